#pragma once

#include <stop_token>
#include <thread>

// While it lives, the first ctrl-C (or SIGTERM, or the end of the terminal) asks for a stop; another one, a second or more later,
// ends the program as usual.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread watch_;  // passes a signal that has come on to the token: a handler may not
};
