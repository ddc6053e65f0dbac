#include "interrupt.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>

namespace {

// coreutils' timeout signals its child and then the whole process group, so one request arrives as two signals a few microseconds
// apart. On a busy machine the kernel merges them; on an idle one the second would end the program in the middle of its tidying
// up. Only a signal that comes this much later counts as a second request.
constexpr std::int64_t kSecondRequestNs = 1'000'000'000;

// A handler may touch lock-free atomics and little else.
std::atomic<std::int64_t> first_signal_ns = 0;  // NOLINT(*-non-const-global-variables): a handler has no other way
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// steady_clock, by a call that signal handlers may make.
std::int64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int number) {
  const std::int64_t now = now_ns();
  std::int64_t none = 0;
  if (first_signal_ns.compare_exchange_strong(none, now)) return;
  if (now - none < kSecondRequestNs) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when this handler returns
}

void set_handler(void (*handler)(int)) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

Interrupt::Interrupt() {
  first_signal_ns = 0;
  set_handler(on_signal);
  watch_ = std::jthread([this](const std::stop_token& done) {
    while (!done.stop_requested()) {
      if (first_signal_ns != 0) source_.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

Interrupt::~Interrupt() { set_handler(SIG_DFL); }
