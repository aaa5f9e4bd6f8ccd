// scullery.hpp as a program uses it: embed_program MODEL, a model of the fields size, price, colour,
// when and grade. Prints the columns and label of a row, the sentences of mistakes, and
// fields of 0 and NULL.
#include <cstdio>
#include <scullery/scullery.hpp>

template <typename Function> static void fails(Function function) {
  try {
    function();
    std::puts("no failure");
  } catch (const scullery::error &e) {
    std::printf("%d %s\n", static_cast<int>(e.status()), e.what());
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  try {
    scullery::predictor first(argv[1]);
    scullery::predictor model(std::move(first));
    std::size_t unknown = 9;
    const std::vector<std::string> names = {"grade", "colour", "when", "size", "price"};
    const std::vector<double> rows = model.encode(
        names, {{1, "blue", "01/03/2021", 7.25, "$2,000"}, {2, "grey", 18687, {}, 7}}, &unknown);
    for (const double number : rows)
      std::printf("%.17g ", number);
    std::printf("\n%zu unknown\n", unknown);
    for (const std::string &label : model.labels(rows))
      std::puts(label.c_str());
    for (const double score : model.scores(rows))
      std::printf("%.17g\n", score);
    const std::vector<float> narrow(rows.begin(), rows.end());
    std::printf("%zu %zu\n", model.predict(narrow).size(), model.columns());
    fails([&] { model.labels(std::vector<double>(3)); });
    fails([&] { model.encode({"size"}, {{1.0}}); });
    fails([&] { model.encode(names, {{1.0}}); });
    fails([] { scullery::predictor("/no/such/model"); });
    const char *none = nullptr; // as a field: missing
    const scullery::field zero(0), missing(none);
    std::printf("%d %g %d %g\n", zero.get().text == nullptr, zero.get().number,
                missing.get().text == nullptr, std::fabs(missing.get().number));
  } catch (const std::exception &e) {
    std::puts(e.what());
    return 1;
  }
  return 0;
}
