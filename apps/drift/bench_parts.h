#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "drift/bench.h"
#include "drift/engine.h"
#include "drift/matrix_view.h"
#include "drift/network_spec.h"
#include "drift/recipe.h"

// Shared by the benches: how a rate is measured beside the machine's own.

struct Measurement {
  double rows_per_s;  // observations or points, times members
  double gflops;
  double seconds;                              // measured
  double peak_rss_mib;                         // of the work, before the machine's own product
  std::optional<drift::ProductSpeed> product;  // the machine's own; empty where nothing is there to do it
  std::optional<drift::StepTiming> steps;      // where they were told from a call's copies; else it is the total over the run
};

struct MeasureOptions {
  int threads;
  int matrix_size;                       // of the machine's own product
  double seconds;                        // how long to measure, at least
  std::optional<drift::Precision> card;  // a GPU is measured, in this precision; empty: the CPU
};

// Random coordinates and values: speed does not depend on them. Coordinates of the sphere are unit vectors.
struct RandomData {
  std::size_t rows, columns;
  std::vector<float> coordinates, values;

  RandomData(const drift::NetworkSpec& spec, std::size_t count);
  drift::MatrixView<const float> coordinate_view() const { return {coordinates.data(), rows, columns}; }
  drift::MatrixView<const float> value_view() const { return {values.data(), rows, 1}; }
};

// Calls work(amount) with amounts that take about half a second each until `seconds` have passed, and adds up both.
// work returns what it has done, in any unit.
struct Total {
  double done;
  double seconds;
};
Total repeat_for(double seconds, const std::function<double(std::size_t amount)>& work);

// work(amount) beside the machine's own product: the total over the run. Warm-up first, so that the memory the work takes is
// known before the large matrices take theirs.
Measurement measure(const MeasureOptions& options, double flops_per_row, const std::function<double(std::size_t amount)>& work);

// Training of an ensemble of this spec on random observations. On a GPU, where every call copies weights and observations there
// and back, steps alone.
Measurement measure_training(drift::Engine& engine, const MeasureOptions& options, const drift::NetworkSpec& spec,
                             drift::Recipe recipe, std::size_t members, std::size_t observations);

// drift bench baselines
void add_bench_baselines(CLI::App& bench);
