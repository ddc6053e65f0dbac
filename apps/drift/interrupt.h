#pragma once

#include <stop_token>

// While it lives, the first ctrl-C (or a polite end by kill) asks for a stop; the second ends the program as usual.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  void poll();  // passes a signal that has come on to the token

 private:
  std::stop_source source_;
};
