// dk/d log amplitude = 2 k. For part p with W = amplitude^2 prod_{q != p} k_q, u = (x - x') / l and pull = -k_p'(r) / r:
//   dk/d log l_d = W pull u_d^2,   dk/dx_d = -W pull u_d / l_d = -dk/dx'_d.
// On the sphere u is the difference of the unit vectors, pull = -(dk_p/dc) / c, and dk_p/d log l comes from the table.

#include "gp/kernel.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "drift/error.h"
#include "gp/kernel_loops.h"
#include "gp/sphere_table.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_part(const KernelPart& part, const KernelSpec& spec, std::vector<bool>& taken) {
  const bool sphere = part.space == Space::sphere;
  if (part.count < 1 || part.first < 0 || part.first + part.count > spec.dimensions || (sphere && part.count != 3)) {
    throw UsageError(fmt::format("covariance: a part of {} coordinates from {} on does not fit into {} dimensions", part.count,
                                 part.first, spec.dimensions));
  }
  for (int d = part.first; d < part.first + part.count; ++d) {
    if (taken[static_cast<std::size_t>(d)]) {
      throw UsageError(fmt::format("covariance: coordinate {} belongs to two parts", d));
    }
    taken[static_cast<std::size_t>(d)] = true;
  }
  const std::size_t entries = sphere ? 1 : static_cast<std::size_t>(part.count);
  if (part.lengthscale_of.size() != entries) {
    throw UsageError(
        fmt::format("covariance: a part of {} coordinates names {} lengthscales", part.count, part.lengthscale_of.size()));
  }
  for (const int l : part.lengthscale_of) {
    if (l < 0 || l >= spec.lengthscales) {
      throw UsageError(fmt::format("covariance: there is no lengthscale {} among {}", l, spec.lengthscales));
    }
  }
  if (!sphere) planar_form(part.covariance);
}

void check_spec(const KernelSpec& spec) {
  if (spec.parts.empty()) throw UsageError("covariance: it has no parts");
  std::vector<bool> taken(static_cast<std::size_t>(spec.dimensions));
  for (const KernelPart& part : spec.parts) check_part(part, spec, taken);
}

}  // namespace

struct Kernel::Tables {
  VectorXd inverse_lengthscale;                      // [dimensions] what each coordinate is multiplied with; 1 on the sphere
  std::vector<PlanarForm> forms;                     // [parts]; any on the sphere
  std::vector<std::unique_ptr<SphereTable>> sphere;  // [parts]; none on the plane

  // Points as the loops want them: [n, dimensions], divided by the lengthscales.
  MatrixXd columns(Points x) const { return x.transpose() * inverse_lengthscale.asDiagonal(); }

  static PlanarColumn column(const KernelPart& part, PlanarForm form, const MatrixXd& x, Index first, const double* z) {
    return {.points = x.data() + part.first * x.rows() + first,
            .stride = static_cast<std::size_t>(x.rows()),
            .point = z + part.first,
            .count = part.count,
            .n = static_cast<std::size_t>(x.rows() - first),
            .form = form};
  }

  // amplitude^2 prod k_p of the points from `first` on against z.
  void values(const KernelSpec& spec, double variance, const MatrixXd& x, Index first, const double* z, double* out,
              VectorXd& scratch) const {
    const Index n = x.rows() - first;
    for (std::size_t p = 0; p < spec.parts.size(); ++p) {
      const PlanarColumn c = column(spec.parts[p], forms[p], x, first, z);
      double* to = p == 0 ? out : scratch.data();
      if (sphere[p]) {
        squared_distances(c, to);
        sphere[p]->evaluate(to, c.n, to, nullptr, nullptr);
        if (p == 0) Eigen::Map<VectorXd>(out, n) *= variance;
      } else {
        planar_values(c, p == 0 ? variance : 1.0, to);
      }
      if (p > 0) Eigen::Map<VectorXd>(out, n).array() *= scratch.head(n).array();
    }
  }
};

KernelSpec space_time_kernel(Space space, int space_coordinates, bool time, const Covariance& covariance, bool joint) {
  KernelSpec spec{.dimensions = space_coordinates + (time ? 1 : 0), .lengthscales = time ? 2 : 1};
  const bool sphere = space == Space::sphere;
  KernelPart part{.space = space, .first = 0, .count = space_coordinates, .covariance = covariance};
  part.lengthscale_of.assign(sphere ? 1 : static_cast<std::size_t>(space_coordinates), 0);
  if (time && joint && !sphere) {
    ++part.count;
    part.lengthscale_of.push_back(1);
  }
  spec.parts.push_back(part);
  if (time && (sphere || !joint)) {
    spec.parts.push_back(
        {.space = Space::plane, .first = space_coordinates, .count = 1, .lengthscale_of = {1}, .covariance = covariance});
  }
  return spec;
}

KernelSpec planar_kernel(int dimensions, const Covariance& covariance) {
  KernelPart part{.space = Space::plane, .first = 0, .count = dimensions, .covariance = covariance};
  part.lengthscale_of.resize(static_cast<std::size_t>(dimensions));
  std::iota(part.lengthscale_of.begin(), part.lengthscale_of.end(), 0);
  return {.dimensions = dimensions, .lengthscales = dimensions, .parts = {part}};
}

Kernel::Kernel(KernelSpec spec, KernelParameters parameters)
    : spec_(std::move(spec)), parameters_(std::move(parameters)), tables_(std::make_unique<Tables>()) {
  check_spec(spec_);
  if (parameters_.size() != spec_.lengthscales + 1) {
    throw UsageError(
        fmt::format("covariance: {} parameters for {} lengthscales and an amplitude", parameters_.size(), spec_.lengthscales));
  }
  // exp(+-300) squared is still a number.
  if (!parameters_.allFinite() || parameters_.cwiseAbs().maxCoeff() > 300.0) {
    throw Error("covariance: its lengthscales and amplitude left the range of numbers");
  }
  tables_->inverse_lengthscale = VectorXd::Ones(spec_.dimensions);
  for (const KernelPart& part : spec_.parts) {
    const bool on_sphere = part.space == Space::sphere;
    tables_->forms.push_back(on_sphere ? PlanarForm::matern_3_2 : planar_form(part.covariance));
    tables_->sphere.push_back(
        on_sphere ? std::make_unique<SphereTable>(part.covariance, std::exp(parameters_[part.lengthscale_of[0]])) : nullptr);
    for (int d = 0; d < part.count && !on_sphere; ++d) {
      tables_->inverse_lengthscale[part.first + d] = std::exp(-parameters_[part.lengthscale_of[static_cast<std::size_t>(d)]]);
    }
  }
}

Kernel::~Kernel() = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;

double Kernel::variance() const { return std::exp(2.0 * parameters_[spec_.lengthscales]); }

double Kernel::operator()(Points x, Points z) const {
  MatrixXd k(1, 1);
  matrix(x, z, k);
  return k(0, 0);
}

void Kernel::matrix(Points x, Points z, Eigen::Ref<MatrixXd> k) const {
  const MatrixXd columns = tables_->columns(x);
  VectorXd scratch(x.cols());
  VectorXd point(spec_.dimensions);
  for (Index j = 0; j < z.cols(); ++j) {
    point = z.col(j).cwiseProduct(tables_->inverse_lengthscale);
    tables_->values(spec_, variance(), columns, 0, point.data(), k.col(j).data(), scratch);
  }
}

void Kernel::symmetric(Points x, Eigen::Ref<MatrixXd> k) const {
  lower(x, k);
  for (Index j = 1; j < k.cols(); ++j) k.col(j).head(j) = k.row(j).head(j).transpose();
}

void Kernel::lower(Points x, Eigen::Ref<MatrixXd> k) const {
  const MatrixXd columns = tables_->columns(x);
  VectorXd scratch(x.cols());
  VectorXd point(spec_.dimensions);
  for (Index j = 0; j < x.cols(); ++j) {
    point = columns.row(j).transpose();
    tables_->values(spec_, variance(), columns, j, point.data(), k.col(j).data() + j, scratch);
  }
}

namespace {

// Room for one column's backward pass: n numbers for each part.
struct ColumnParts {
  Index n = 0;  // of the rows there is room for, those in use
  MatrixXd value, pull, log_slope;
  VectorXd weight, part_weight, pulled;

  ColumnParts(Index rows, Index parts)
      : n(rows), value(rows, parts), pull(rows, parts), log_slope(rows, parts), weight(rows), part_weight(rows), pulled(rows) {}

  // weight times the values of all parts but one; -1: of all.
  void leave_out(Index left_out) {
    part_weight.head(n) = weight.head(n);
    for (Index p = 0; p < value.cols(); ++p) {
      if (p != left_out) part_weight.head(n).array() *= value.col(p).head(n).array();
    }
  }
};

// Along the sphere: what points away from it changes nothing.
void make_tangent(const KernelSpec& spec, Points x, MatrixXd& gradient) {
  for (const KernelPart& part : spec.parts) {
    if (part.space != Space::sphere) continue;
    for (Index i = 0; i < x.cols(); ++i) {
      const auto s = x.col(i).segment(part.first, part.count);
      auto g = gradient.col(i).segment(part.first, part.count);
      g -= s * (s.dot(g) / s.squaredNorm());
    }
  }
}

}  // namespace

// Inputs and sums of a backward pass, in the layout of the loops.
struct Kernel::Backward {
  const Kernel& kernel;
  const MatrixXd& columns;  // [n, dimensions], scaled
  KernelParameters& gradient;
  MatrixXd x_columns;  // [n, dimensions] gradients of x; no rows: not wanted
  MatrixXd z_columns;  // [dimensions, z.cols]; no columns: not wanted
  ColumnParts c;

  // Column j, from row `first` on; c.weight holds amplitude^2 dL/dK.
  void add_column(Index first, Index j, const VectorXd& point) {
    c.n = columns.rows() - first;
    evaluate_parts(first, point.data());
    c.leave_out(-1);
    gradient[kernel.spec_.lengthscales] += 2.0 * c.part_weight.head(c.n).sum();
    for (Index p = 0; p < c.value.cols(); ++p) add_part(p, first, j, point);
  }

  void evaluate_parts(Index first, const double* point) {
    for (Index p = 0; p < c.value.cols(); ++p) {
      const auto q = static_cast<std::size_t>(p);
      const auto& sphere = kernel.tables_->sphere[q];
      const PlanarColumn column = Tables::column(kernel.spec_.parts[q], kernel.tables_->forms[q], columns, first, point);
      double* value = c.value.col(p).data();
      if (sphere) {
        squared_distances(column, value);
        sphere->evaluate(value, column.n, value, c.pull.col(p).data(), c.log_slope.col(p).data());
      } else {
        planar_values_and_pulls(column, value, c.pull.col(p).data());
      }
    }
  }

  void add_part(Index p, Index first, Index j, const VectorXd& point) {
    const KernelPart& part = kernel.spec_.parts[static_cast<std::size_t>(p)];
    const bool on_sphere = part.space == Space::sphere;
    c.leave_out(p);
    if (on_sphere) gradient[part.lengthscale_of[0]] += c.part_weight.head(c.n).dot(c.log_slope.col(p).head(c.n));
    if (on_sphere && x_columns.rows() == 0 && z_columns.cols() == 0) return;
    c.pulled.head(c.n) = c.part_weight.head(c.n).cwiseProduct(c.pull.col(p).head(c.n));
    for (int d = part.first; d < part.first + part.count; ++d) {
      const double inverse = kernel.tables_->inverse_lengthscale[d];
      double* to = x_columns.rows() > 0 ? x_columns.col(d).data() : nullptr;
      const PullSums sums =
          pull_sums(c.pulled.data(), columns.col(d).data() + first, point[d], static_cast<std::size_t>(c.n), inverse, to);
      if (!on_sphere) gradient[part.lengthscale_of[static_cast<std::size_t>(d - part.first)]] += sums.square;
      if (z_columns.cols() > 0) z_columns(d, j) += inverse * sums.first;
    }
  }
};

void Kernel::backward(Points x, Points z, const Eigen::Ref<const MatrixXd>& weights, KernelParameters& gradient,
                      MatrixXd* x_gradient, MatrixXd* z_gradient) const {
  const auto parts = static_cast<Index>(spec_.parts.size());
  const MatrixXd columns = tables_->columns(x);
  Backward pass{.kernel = *this,
                .columns = columns,
                .gradient = gradient,
                .x_columns = MatrixXd::Zero(x_gradient != nullptr ? x.cols() : 0, spec_.dimensions),
                .z_columns = MatrixXd::Zero(spec_.dimensions, z_gradient != nullptr ? z.cols() : 0),
                .c = ColumnParts(x.cols(), parts)};
  VectorXd point(spec_.dimensions);
  for (Index j = 0; j < z.cols(); ++j) {
    point = z.col(j).cwiseProduct(tables_->inverse_lengthscale);
    pass.c.weight = variance() * weights.col(j);
    pass.add_column(0, j, point);
  }
  if (x_gradient != nullptr) {
    MatrixXd rows = pass.x_columns.transpose();
    make_tangent(spec_, x, rows);
    *x_gradient += rows;
  }
  if (z_gradient != nullptr) {
    make_tangent(spec_, z, pass.z_columns);
    *z_gradient += pass.z_columns;
  }
}

void Kernel::backward_symmetric(Points x, const Eigen::Ref<const MatrixXd>& weights, KernelParameters& gradient) const {
  const Index n = x.cols();
  const MatrixXd columns = tables_->columns(x);
  Backward pass{.kernel = *this,
                .columns = columns,
                .gradient = gradient,
                .x_columns = MatrixXd::Zero(0, spec_.dimensions),
                .z_columns = MatrixXd::Zero(spec_.dimensions, 0),
                .c = ColumnParts(n, static_cast<Index>(spec_.parts.size()))};
  VectorXd point(spec_.dimensions);
  for (Index j = 0; j < n; ++j) {
    point = columns.row(j).transpose();
    pass.c.weight.head(n - j) = 2.0 * variance() * weights.col(j).tail(n - j);  // for (i, j) and (j, i)
    pass.c.weight[0] *= 0.5;
    pass.add_column(j, j, point);
  }
}

}  // namespace drift::gp
