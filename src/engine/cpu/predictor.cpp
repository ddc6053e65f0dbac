#include "engine/cpu/predictor.h"

#include <algorithm>
#include <atomic>
#include <functional>

#include "core/blocks.h"
#include "core/threads.h"
#include "engine/cpu/passes.h"

namespace drift::cpu {
namespace {

constexpr std::size_t kPassRows = 256;    // rows of one pass
constexpr std::size_t kChunkRows = 1024;  // rows for which a thread goes through all members, so that weights are read seldom

std::vector<Network<float>> networks(const ScaleResolver& resolver, const Ensemble& ensemble) {
  std::vector<Network<float>> all;
  for (const Member& member : ensemble.members) all.emplace_back(resolver, member.fixed.data(), member.parameters.data());
  return all;
}

// Calls work(thread memory, first row, rows) for every chunk, on threads that each made their own memory.
template <class Memory>
void for_each_chunk(std::size_t rows, int threads, const std::function<Memory()>& make_memory,
                    const std::function<void(Memory&, std::size_t, std::size_t)>& work) {
  const std::size_t chunks = (rows + kChunkRows - 1) / kChunkRows;
  std::atomic<std::size_t> next = 0;
  run_on_threads(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), chunks)), [&](int) {
    Memory memory = make_memory();
    for (std::size_t chunk = next++; chunk < chunks; chunk = next++) {
      const std::size_t first = chunk * kChunkRows;
      work(memory, first, std::min(kChunkRows, rows - first));
    }
  });
}

void load(MatrixView<const float> coordinates, std::size_t first, MatrixView<float> block) {
  for (std::size_t row = 0; row < block.rows; ++row) std::copy_n(coordinates.row(first + row), block.cols, block.row(row));
}

struct PredictMemory {
  Workspace<float> workspace;
  std::vector<float> members;  // [chunk rows, members * outputs]
};

// Mean and variance over members, in double: members agree to many digits where the data are dense.
void moments(MatrixView<const float> members, std::size_t outputs, std::size_t first, const PredictionViews& out) {
  const std::size_t count = members.cols / outputs;
  for (std::size_t row = 0; row < members.rows; ++row) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double mean = 0;
      for (std::size_t j = 0; j < count; ++j) mean += members(row, j * outputs + o);
      mean /= static_cast<double>(count);
      double squares = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const double deviation = members(row, j * outputs + o) - mean;
        squares += deviation * deviation;
      }
      if (!out.mean.empty()) out.mean(first + row, o) = static_cast<float>(mean);
      if (!out.variance.empty()) {
        out.variance(first + row, o) = count > 1 ? static_cast<float>(squares / static_cast<double>(count - 1)) : 0.0F;
      }
    }
  }
}

}  // namespace

void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out, int threads) {
  const ScaleResolver resolver(make_plan(ensemble.spec));
  const auto all = networks(resolver, ensemble);
  const auto outputs = static_cast<std::size_t>(ensemble.spec.outputs);
  const std::size_t columns = all.size() * outputs;
  for_each_chunk<PredictMemory>(
      coordinates.rows, threads,
      [&] {
        return PredictMemory{.workspace = Workspace<float>(resolver.plan(), kPassRows, {}),
                             .members = std::vector<float>(kChunkRows * columns)};
      },
      [&](PredictMemory& memory, std::size_t first, std::size_t rows) {
        const MatrixView<float> members(memory.members.data(), rows, columns);
        for (std::size_t j = 0; j < all.size(); ++j) {
          for_blocks(rows, kPassRows, [&](std::size_t begin, std::size_t count) {
            load(coordinates, first + begin, memory.workspace.coordinates(count));
            forward(all[j], memory.workspace, count);
            const MatrixView<float> output = memory.workspace.output(count);
            for (std::size_t row = 0; row < count; ++row) {
              std::copy_n(output.row(row), outputs, members.row(begin + row) + j * outputs);
            }
          });
        }
        if (!out.members.empty()) {
          for (std::size_t row = 0; row < rows; ++row) std::copy_n(members.row(row), columns, out.members.row(first + row));
        }
        if (!out.mean.empty() || !out.variance.empty()) moments(members, outputs, first, out);
      });
}

void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient, int threads) {
  const ScaleResolver resolver(make_plan(ensemble.spec));
  const auto all = networks(resolver, ensemble);
  const auto outputs = static_cast<std::size_t>(ensemble.spec.outputs);
  const auto share = static_cast<float>(1.0 / static_cast<double>(all.size()));
  for_each_chunk<Workspace<float>>(
      coordinates.rows, threads,
      [&] { return Workspace<float>(resolver.plan(), kPassRows, {.backward = true, .coordinates = true}); },
      [&](Workspace<float>& ws, std::size_t first, std::size_t rows) {
        const MatrixView<float> out = gradient.middle_rows(first, rows);
        for (std::size_t row = 0; row < rows; ++row) std::fill_n(out.row(row), out.cols, 0.0F);
        for (const Network<float>& network : all) {
          for_blocks(rows, kPassRows, [&](std::size_t begin, std::size_t count) {
            load(coordinates, first + begin, ws.coordinates(count));
            forward(network, ws, count);
            for (std::size_t o = 0; o < outputs; ++o) {
              const MatrixView<float> seed = ws.output_gradient(count);
              for (std::size_t row = 0; row < count; ++row) {
                for (std::size_t other = 0; other < outputs; ++other) seed(row, other) = other == o ? share : 0.0F;
              }
              backward<float>(network, ws, count, nullptr, false);
              const MatrixView<float> slope = ws.coordinate_gradient(count);
              for (std::size_t row = 0; row < count; ++row) {
                for (std::size_t i = 0; i < slope.cols; ++i) out(begin + row, o * slope.cols + i) += slope(row, i);
              }
            }
          });
        }
      });
}

void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates, MatrixView<float> inputs,
                 int threads) {
  const ScaleResolver resolver(make_plan(ensemble.spec));
  const Plan& plan = resolver.plan();
  const Member& one = ensemble.members[member];
  const Network<float> network(resolver, one.fixed.data(), one.parameters.data());
  const auto scale = static_cast<float>(plan.has_head ? plan.head_scale : network.scales.layers.back().output);
  for_each_chunk<Workspace<float>>(
      coordinates.rows, threads, [&] { return Workspace<float>(plan, kPassRows, {.head_inputs = true}); },
      [&](Workspace<float>& ws, std::size_t first, std::size_t rows) {
        for_blocks(rows, kPassRows, [&](std::size_t begin, std::size_t count) {
          load(coordinates, first + begin, ws.coordinates(count));
          forward(network, ws, count);
          const MatrixView<float> from = ws.last_input(count);
          for (std::size_t row = 0; row < count; ++row) {
            float* to = inputs.row(first + begin + row);
            for (std::size_t i = 0; i < from.cols; ++i) to[i] = scale * from(row, i);
            if (plan.layers.back().bias) to[from.cols] = scale;  // the bias's own input is one
          }
        });
      });
}

}  // namespace drift::cpu
