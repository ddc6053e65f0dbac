#include "interrupt.h"

#include <atomic>
#include <chrono>
#include <csignal>

namespace {

// A handler may touch lock-free atomics and little else.
std::atomic<bool> signal_came = false;  // NOLINT(*-non-const-global-variables): a handler has no other way
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { signal_came = true; }

void set_handler(void (*handler)(int)) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

Interrupt::Interrupt() {
  signal_came = false;
  set_handler(on_signal);
  watch_ = std::jthread([this](const std::stop_token& done) {
    while (!done.stop_requested()) {
      if (signal_came) source_.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

Interrupt::~Interrupt() { set_handler(SIG_DFL); }
