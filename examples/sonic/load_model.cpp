// What a C++ program does to load a TorchScript model: here torch::jit::load itself is called.
// (From Python it is torch::jit::import_ir_module.)
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: load_model MODEL.pt\n"), 2;
  const torch::jit::Module model = torch::jit::load(argv[1]);
  std::printf("%zu tensors in %s\n", static_cast<std::size_t>(model.parameters().size()), argv[1]);
}
