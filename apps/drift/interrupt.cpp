#include "interrupt.h"

#include <csignal>

namespace {

volatile std::sig_atomic_t signal_came = 0;  // all that a signal handler may touch

void on_signal(int) { signal_came = 1; }

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  signal_came = 0;
  set_handler(on_signal);
}

Interrupt::~Interrupt() { set_handler(SIG_DFL); }

void Interrupt::poll() {
  if (signal_came != 0) source_.request_stop();
}
