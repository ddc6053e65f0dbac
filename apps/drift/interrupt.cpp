#include "interrupt.h"

#include <chrono>
#include <csignal>

namespace {

volatile std::sig_atomic_t signal_came = 0;  // all that a signal handler may touch

void on_signal(int) { signal_came = 1; }

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
  signal_came = 0;
  set_handler(on_signal);
  watch_ = std::jthread([this](const std::stop_token& done) {
    while (!done.stop_requested()) {
      if (signal_came != 0) source_.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

Interrupt::~Interrupt() { set_handler(SIG_DFL); }
