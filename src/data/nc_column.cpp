#include "data/nc_column.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace drift {
namespace {

std::size_t product(std::span<const std::size_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::size_t{1}, std::multiplies<>());
}

// Steps in memory along each dimension of a row-major array.
std::vector<std::size_t> row_major(std::span<const std::size_t> lengths) {
  std::vector<std::size_t> strides(lengths.size(), 1);
  for (std::size_t i = lengths.size(); i-- > 1;) strides[i - 1] = strides[i] * lengths[i];
  return strides;
}

std::vector<std::size_t> places(const NcVariable& value, const NcVariable& variable, std::size_t rank) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto at = std::find_if(value.dimensions.begin(), value.dimensions.end(),
                                 [&](const NcDimension& d) { return d.id == variable.dimensions[i].id; });
    result.push_back(static_cast<std::size_t>(at - value.dimensions.begin()));
  }
  return result;
}

}  // namespace

std::size_t NcBlock::size() const { return product(count); }

NcBlocks::NcBlocks(const NcVariable& value, std::size_t cells) {
  for (const NcDimension& dimension : value.dimensions) length_.push_back(dimension.length);
  at_.assign(length_.size(), 0);
  finished_ = value.size() == 0;
  std::size_t inner = 1;  // cells of one index along the axis
  axis_ = length_.empty() ? 0 : length_.size() - 1;
  while (axis_ > 0 && inner * length_[axis_] <= cells) inner *= length_[axis_--];
  step_ = std::max<std::size_t>(1, cells / std::max<std::size_t>(1, inner));
}

bool NcBlocks::next(NcBlock& block) {
  if (finished_) return false;
  block.start = at_;
  block.count.assign(length_.size(), 1);
  for (std::size_t i = axis_ + 1; i < length_.size(); ++i) block.count[i] = length_[i];
  finished_ = true;
  if (length_.empty()) return true;
  block.count[axis_] = std::min(step_, length_[axis_] - at_[axis_]);
  at_[axis_] += block.count[axis_];
  for (std::size_t i = axis_ + 1; i-- > 0;) {
    if (at_[i] < length_[i]) {
      finished_ = false;
      break;
    }
    at_[i] = 0;
    if (i > 0) ++at_[i - 1];
  }
  return true;
}

NcColumn::NcColumn(const NcSource& file, const NcVariable& value, const NcVariable& variable, std::size_t axis)
    : file_(&file),
      variable_(&variable),
      place_(places(value, variable, variable.dimensions.size())),
      packing_(file.packing(variable)) {
  std::size_t own_axis = 0;  // the last of its dimensions that blocks do not take whole
  for (std::size_t i = 0; i < place_.size(); ++i) {
    if (place_[i] <= axis) own_axis = i;
  }
  file.keep_chunks(variable, own_axis);
}

NcColumn::NcColumn(const NcVariable& value, const NcVariable& variable, std::size_t rank, std::vector<double> numbers)
    : variable_(&variable), place_(places(value, variable, rank)), numbers_(std::move(numbers)) {}

void NcColumn::load(const NcBlock& block) { load(block, true); }
void NcColumn::load_stored(const NcBlock& block) { load(block, false); }

void NcColumn::load(const NcBlock& block, bool unpack) {
  NcBlock own;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < place_.size(); ++i) {
    own.start.push_back(block.start[place_[i]]);
    own.count.push_back(block.count[place_[i]]);
    lengths.push_back(variable_->dimensions[i].length);
  }
  if (file_ != nullptr && (numbers_.empty() || own.start != own_.start || own.count != own_.count)) {
    numbers_.resize(own.size());
    file_->read_stored(*variable_, own.start, own.count, numbers_);
    if (unpack) {
      for (double& number : numbers_) number = packing_.unpack(number);
    }
    own_ = own;
  }
  const std::vector<std::size_t> steps = row_major(file_ != nullptr ? own.count : lengths);
  std::vector<std::size_t> strides(block.count.size(), 0);
  std::size_t base = 0;
  for (std::size_t i = 0; i < place_.size(); ++i) {
    strides[place_[i]] = steps[i];
    if (file_ == nullptr) base += steps[i] * own.start[i];
  }
  spread(block, base, strides);
}

void NcColumn::spread(const NcBlock& block, std::size_t base, const std::vector<std::size_t>& strides) {
  const std::size_t size = block.size();
  if (strides == row_major(block.count) && base + size <= numbers_.size()) {
    cells_ = std::span(numbers_).subspan(base, size);
    return;
  }
  spread_.resize(size);
  const std::size_t rank = block.count.size();
  const std::size_t inner = rank == 0 ? 1 : block.count[rank - 1], step = rank == 0 ? 0 : strides[rank - 1];
  std::vector<std::size_t> at(rank, 0);
  std::size_t from = base;
  for (std::size_t to = 0; to < size; to += inner) {
    for (std::size_t i = 0; i < inner; ++i) spread_[to + i] = numbers_[from + i * step];
    for (std::size_t d = rank; d-- > 1;) {  // d - 1 is the next slower dimension
      const std::size_t slow = d - 1;
      from += strides[slow];
      if (++at[slow] < block.count[slow]) break;
      from -= strides[slow] * block.count[slow];
      at[slow] = 0;
    }
  }
  cells_ = spread_;
}

}  // namespace drift
