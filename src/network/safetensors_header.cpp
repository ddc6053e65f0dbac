#include "network/safetensors_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "drift/error.h"

namespace drift {
namespace {

// Takes the JSON as events, so that a hostile header cannot make a tree many times its own size, and repeated keys are seen.
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string problem;  // why the last event was refused

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) return go(Place::top);
    if (place_ == Place::named) return go(in_metadata_ ? Place::metadata : Place::tensor);
    return refuse_value("an object");
  }

  bool key(string_t& text) override {
    key_ = text;
    if (place_ == Place::top) return start_entry();
    if (place_ == Place::metadata) {
      return !header.metadata.contains(key_) || refuse(fmt::format("names metadata \"{}\" twice", key_));
    }
    return start_field();
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      header.metadata.emplace(key_, text);
      return true;
    }
    if (place_ != Place::dtype) return refuse_value("text");
    entry_.dtype = text;
    return go(Place::tensor);
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::shape) return go(Place::shape_entries);
    if (place_ == Place::offsets) return go(Place::offset_entries);
    return refuse_value("an array");
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape_entries) {
      entry_.shape.push_back(value);
      return true;
    }
    if (place_ != Place::offset_entries) return refuse_value("a number");
    if (offset_count_ == 2) return refuse(fmt::format("gives \"{}\" more than two data_offsets", name_));
    (offset_count_ == 0 ? entry_.begin : entry_.end) = value;
    ++offset_count_;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offset_entries && offset_count_ != 2) {
      return refuse(fmt::format("gives \"{}\" fewer than two data_offsets", name_));
    }
    return go(Place::tensor);
  }

  bool end_object() override {
    if (place_ == Place::top) return go(Place::outside);
    if (place_ == Place::tensor) {
      if (!has_dtype_ || !has_shape_ || !has_offsets_) {
        return refuse(fmt::format("lacks dtype, shape or data_offsets of \"{}\"", name_));
      }
      header.tensors.emplace(name_, std::move(entry_));
    }
    return go(Place::top);
  }

  bool null() override { return refuse_value("null"); }
  bool boolean(bool) override { return refuse_value("true or false"); }
  bool number_integer(number_integer_t) override { return refuse_value("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return refuse_value("a fraction"); }
  bool binary(binary_t&) override { return refuse_value("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return refuse(fmt::format("is not valid JSON at its byte {}", position));
  }

 private:
  enum class Place { outside, top, named, metadata, tensor, dtype, shape, shape_entries, offsets, offset_entries };

  bool go(Place place) {
    place_ = place;
    return true;
  }
  bool refuse(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool refuse_value(const char* what) { return refuse(fmt::format("has {} where safetensors has none, at \"{}\"", what, key_)); }

  bool start_entry() {
    name_ = key_;
    in_metadata_ = key_ == kSafetensorsMetadata;
    if (in_metadata_ ? seen_metadata_ : header.tensors.contains(key_)) return refuse(fmt::format("names \"{}\" twice", key_));
    seen_metadata_ = seen_metadata_ || in_metadata_;
    entry_ = {};
    has_dtype_ = has_shape_ = has_offsets_ = false;
    offset_count_ = 0;
    return go(Place::named);
  }

  bool start_field() {
    const bool dtype = key_ == "dtype";
    const bool shape = key_ == "shape";
    const bool offsets = key_ == "data_offsets";
    if (!dtype && !shape && !offsets) return refuse(fmt::format("has an unknown key \"{}\" at \"{}\"", key_, name_));
    bool& seen = dtype ? has_dtype_ : shape ? has_shape_ : has_offsets_;
    if (seen) return refuse(fmt::format("gives {} of \"{}\" twice", key_, name_));
    seen = true;
    return go(dtype ? Place::dtype : shape ? Place::shape : Place::offsets);
  }

  Place place_ = Place::outside;
  std::string key_;
  std::string name_;  // of the tensor
  TensorEntry entry_;
  int offset_count_ = 0;
  bool in_metadata_ = false;
  bool seen_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& text) {
  if (text.empty() || text[0] != '{') throw Error("the header does not begin as a safetensors header does, with \"{\"");
  HeaderEvents events;
  if (!nlohmann::json::sax_parse(text, &events)) throw Error("the header " + events.problem);
  return std::move(events.header);
}

}  // namespace drift
