#pragma once

#include <cstddef>
#include <vector>

namespace drift::gp {

// A Cholesky factor of some hundred rows with right-hand sides, as local kriging needs one for every point of a map. LAPACK's
// blocks are made for thousands of rows: at 100 to 200 this one takes a third of the time (docs/notes/speed.md), in double
// precision, for the instruction set of the machine it runs on (Highway), on the calling thread.
//
// Column-major with `stride` rows: K in its lower triangle, the right-hand sides as rows below it, then some rows of padding. The
// factor carries those rows along: [K; B'] becomes [L; (L^-1 B)'].
class SmallFactor {
 public:
  // Room for n rows and some right-hand sides; what was there is lost.
  void resize(std::size_t n, std::size_t sides);

  std::size_t size() const { return n_; }
  std::size_t stride() const { return stride_; }
  double* column(std::size_t j) { return rows_.data() + j * stride_; }
  const double* column(std::size_t j) const { return rows_.data() + j * stride_; }
  double& side(std::size_t which, std::size_t j) { return column(j)[n_ + which]; }

  // 0, or the 1-based index of the first pivot that is not positive.
  int factor();
  // After factor(): b [n, count] becomes L'^-1 b; columns one after the other. count: 1 to 4.
  void solve_transposed(double* b, std::size_t count) const;

 private:
  std::size_t n_ = 0, sides_ = 0, stride_ = 0;
  std::vector<double> rows_;
};

}  // namespace drift::gp
