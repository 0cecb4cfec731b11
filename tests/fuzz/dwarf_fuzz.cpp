// Debug information from anywhere: what reads it must not crash, hang, or say what can't be compiled
// into a plan.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "sonictrace/debuginfo/debug_info.hpp"
#include "sonictrace/proto/call_plan.hpp"
#include "sonictrace/proto/print.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonictrace;
  auto image = elf::Image::parse({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!image) return 0;
  ModuleFile module{*image, "/nowhere/fuzz", [&]() -> Result<UniqueFd> {
                      UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC));
                      if (::write(file.get(), data, size) < 0)
                        return Error::from_errno("memory");
                      return file;
                    }};
  DebugInfoOptions options;
  options.directories.clear();
  DebugInfo info(std::move(options));
  std::size_t asked = 0;
  for (const auto& symbol : (*image)->functions()) {
    if (++asked > 100) break;
    const proto::Prototype* const found = info.find(module, symbol.name, symbol.value);
    if (found == nullptr) continue;
    (void)proto::print(*found);
    (void)proto::compile(*found, {});
  }
  return 0;
}
