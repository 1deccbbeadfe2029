// Products of square matrices by oneDNN's own interface, for bench/roofline/compare_roofs.py, which
// compiles it where oneDNN is installed (Debian: libdnnl-dev).
//
//   onednn_gemm f32|bf16 SIZE SECONDS
//
// The matrices lie as they do in torch, or one of them as oneDNN likes it best, packed before the
// time begins: the better of the two counts. Prints operations a second, the best product's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace {

using dnnl::memory;

memory::desc matrix(memory::dim size, memory::data_type type, memory::format_tag tag) {
  return {{size, size}, type, tag};
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const memory::desc& a,
                                      const memory::desc& b, const memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, c};
#else
  return {dnnl::matmul::desc(a, b, c), engine};
#endif
}

/// Random numbers between -1 and 1, in the type and the place of `target`.
void fill(const memory& target, memory::dim size, dnnl::stream& stream,
          const dnnl::engine& engine) {
  std::vector<float> numbers(static_cast<std::size_t>(size * size));
  for (float& number : numbers) {
    number = 2 * static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) - 1;
  }
  const auto plain = matrix(size, memory::data_type::f32, memory::format_tag::ab);
  const memory source(plain, engine, numbers.data());
  dnnl::reorder(source, target)
      .execute(stream, const_cast<memory&>(source), const_cast<memory&>(target));
  stream.wait();
}

double best_rate(memory::data_type type, memory::dim size, memory::format_tag tag_of_b,
                 double seconds) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto plain = matrix(size, type, memory::format_tag::ab);
  const auto product = describe(engine, plain, matrix(size, type, tag_of_b), plain);
  const memory a(product.src_desc(), engine);
  const memory b(product.weights_desc(), engine);
  const memory c(product.dst_desc(), engine);
  fill(a, size, stream, engine);
  fill(b, size, stream, engine);
  const dnnl::matmul multiply(product);
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  double least_s = 1e9;
  do {
    const auto start = Clock::now();
    multiply.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
    least_s = std::min(least_s, std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() < until);
  return 2.0 * static_cast<double>(size * size * size) / least_s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto type =
      std::string(argv[1]) == "bf16" ? memory::data_type::bf16 : memory::data_type::f32;
  const memory::dim size = std::atoi(argv[2]);
  const double seconds = std::atof(argv[3]) / 2;
  const double as_in_torch = best_rate(type, size, memory::format_tag::ab, seconds);
  const double packed = best_rate(type, size, memory::format_tag::any, seconds);
  std::printf("%.6g\n", std::max(as_in_torch, packed));
  return 0;
}
