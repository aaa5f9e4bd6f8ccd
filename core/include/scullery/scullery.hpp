// scullery/scullery.hpp: scullery.h for C++11 and later. Objects that close what they own, vectors
// for buffers, exceptions for failures. A header alone, over the functions of scullery.h.
//
//   #include <scullery/scullery.hpp>
//
//   scullery::predictor model("model.safetensors");
//   std::vector<double> rows = model.encode({"age", "job"}, {{39, "clerk"}, {51, "farmer"}});
//   for (const std::string &label : model.labels(rows)) std::puts(label.c_str());
//
// Functions throw scullery::error where scullery.h has a status. Rows are vectors of double or
// float, row-major and without gaps; a size that is not a multiple of columns() is an error. One
// predictor may be used by many threads at once, as in C.
#ifndef SCULLERY_HPP
#define SCULLERY_HPP

#include "scullery.h"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace scullery {

// A failure: what() is the sentence of the library.
class error : public std::runtime_error {
public:
  error(scl_status status, const char *sentence) : std::runtime_error(sentence), status_(status) {}
  scl_status status() const noexcept { return status_; }

private:
  scl_status status_;
};

namespace detail {
// For functions whose last argument is a scl_error.
template <typename Function, typename... Arguments>
void check(Function function, Arguments... arguments) {
  scl_error e = scl_error();
  const scl_status status = function(arguments..., &e);
  if (status != SCL_STATUS_OK) throw error(status, e.message);
}
inline scl_dtype dtype_of(const double *) { return SCL_DTYPE_FLOAT64; }
inline scl_dtype dtype_of(const float *) { return SCL_DTYPE_FLOAT32; }
} // namespace detail

inline std::string version() { return scl_version(); }
inline void set_threads(std::size_t threads) { detail::check(scl_set_threads, threads); }
inline void load_plugin(const std::string &path) { detail::check(scl_load_plugin, path.c_str()); }

// A field of a row: a text, a number, or nothing where it is missing.
class field {
public:
  field() : number_(std::numeric_limits<double>::quiet_NaN()), is_text_(false) {}
  // Any type of numbers; a template, so that 0 is no pointer.
  template <typename Number,
            typename = typename std::enable_if<std::is_arithmetic<Number>::value>::type>
  field(Number number) : number_(static_cast<double>(number)), is_text_(false) {}
  field(std::string text) : text_(std::move(text)), number_(0), is_text_(true) {}
  // NULL: a missing field.
  field(const char *text)
      : text_(text == nullptr ? "" : text), number_(std::numeric_limits<double>::quiet_NaN()),
        is_text_(text != nullptr) {}
  // As scullery.h takes it: the text belongs to this object.
  scl_field get() const noexcept {
    const scl_field out = {is_text_ ? text_.c_str() : nullptr, number_};
    return out;
  }

private:
  std::string text_;
  double number_;
  bool is_text_;
};

// A saved model. It can be moved, and not copied.
class predictor {
public:
  // Load a file that p:save wrote, or its bytes.
  explicit predictor(const std::string &path) {
    scl_predictor *out = nullptr;
    detail::check(scl_predictor_load, path.c_str(), &out);
    handle_.reset(out);
  }
  predictor(const void *bytes, std::size_t size) {
    scl_predictor *out = nullptr;
    detail::check(scl_predictor_load_memory, bytes, size, &out);
    handle_.reset(out);
  }

  // For functions of scullery.h that are not here.
  const scl_predictor *get() const noexcept { return handle_.get(); }

  std::size_t columns() const noexcept { return scl_predictor_columns(get()); }
  std::size_t outputs() const noexcept { return scl_predictor_outputs(get()); }
  std::size_t classes() const noexcept { return scl_predictor_classes(get()); }
  bool has_probabilities() const noexcept { return scl_predictor_has_probabilities(get()) != 0; }
  // "" where the training data had no names, or there is no such column or class.
  std::string column_name(std::size_t column) const {
    return text(scl_predictor_column_name(get(), column));
  }
  std::string class_label(std::size_t place) const {
    return text(scl_predictor_class_label(get(), place));
  }

  // rows x 1 places of classes, or rows x outputs() values of a regression.
  template <typename T> std::vector<T> predict(const std::vector<T> &rows) const {
    return run(scl_predictor_predict, rows, classes() > 0 ? 1 : outputs());
  }
  // rows x outputs() scores.
  template <typename T> std::vector<T> scores(const std::vector<T> &rows) const {
    return run(scl_predictor_scores, rows, outputs());
  }
  // rows x classes() probabilities.
  template <typename T> std::vector<T> probabilities(const std::vector<T> &rows) const {
    return run(scl_predictor_probabilities, rows, classes());
  }
  // The label of the class of each row.
  template <typename T> std::vector<std::string> labels(const std::vector<T> &rows) const {
    std::vector<std::string> out;
    std::vector<int32_t> places(count(rows.size(), columns(), "columns"));
    detail::check(scl_predictor_classify, get(), detail::dtype_of(rows.data()), rows.data(),
                  places.size(), std::size_t(0), places.data());
    for (const int32_t place : places)
      out.push_back(class_label(static_cast<std::size_t>(place)));
    return out;
  }

  // Rows of fields into rows of columns(): scl_predictor_encode. *unknown, if given: how many
  // categories the model does not know.
  std::vector<double> encode(const std::vector<std::string> &names,
                             const std::vector<std::vector<field>> &rows,
                             std::size_t *unknown = nullptr) const {
    std::vector<const char *> name;
    std::vector<scl_field> values;
    for (const std::string &one : names)
      name.push_back(one.c_str());
    for (const std::vector<field> &row : rows) {
      if (row.size() != names.size())
        throw error(SCL_STATUS_BAD_SHAPE,
                    ("encode: a row has " + std::to_string(row.size()) + " fields, and there are " +
                     std::to_string(names.size()) + " names")
                        .c_str());
      for (const field &one : row)
        values.push_back(one.get());
    }
    name.push_back(nullptr); // so that data() is not null
    std::vector<double> out(rows.size() * columns());
    detail::check(scl_predictor_encode, get(), static_cast<const char *const *>(name.data()),
                  names.size(), static_cast<const scl_field *>(values.data()), rows.size(),
                  scl_dtype(SCL_DTYPE_FLOAT64), static_cast<void *>(out.data()), std::size_t(0),
                  unknown);
    return out;
  }

private:
  struct closer {
    void operator()(scl_predictor *p) const noexcept { scl_predictor_close(p); }
  };
  std::unique_ptr<scl_predictor, closer> handle_;

  static std::string text(const char *from) { return from == nullptr ? "" : from; }

  static std::size_t count(std::size_t size, std::size_t width, const char *what) {
    if (width == 0 || size % width != 0)
      throw error(SCL_STATUS_BAD_SHAPE, ("rows of " + std::to_string(size) +
                                         " numbers are not a multiple of the model's " +
                                         std::to_string(width) + " " + what)
                                            .c_str());
    return size / width;
  }

  template <typename T, typename Function>
  std::vector<T> run(Function function, const std::vector<T> &rows, std::size_t width) const {
    const std::size_t n = count(rows.size(), columns(), "columns");
    std::vector<T> out(n * width);
    detail::check(function, get(), detail::dtype_of(rows.data()),
                  static_cast<const void *>(rows.data()), n, std::size_t(0),
                  static_cast<void *>(out.data()), std::size_t(0));
    return out;
  }
};

} // namespace scullery

#endif
