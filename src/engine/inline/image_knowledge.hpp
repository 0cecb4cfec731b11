#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/inline/site_writer.hpp"
#include "sonictrace/base/address.hpp"
#include "sonictrace/elf/entries.hpp"
#include "sonictrace/elf/image.hpp"
#include "sonictrace/elf/return_gadget.hpp"
#include "sonictrace/probe/module_list.hpp"

namespace sonictrace {

/// What patching has to know of images besides their calls. Found out once for each image,
/// whichever processes map it, and ahead where that can be done: it takes long, and a process whose
/// modules are patched is stopped.
class ImageKnowledge {
public:
  using Image = std::shared_ptr<const elf::Image>;

  /// Up to where the function that begins there can be looked at.
  std::span<const std::byte> code(const Image& image, ElfAddress entry);
  /// Finds out how entries can be patched, of those that nobody has asked for yet: reads all code
  /// of the image.
  void survey(const Image& image, std::span<const ElfAddress> entries);
  /// Of an entry that was surveyed.
  const elf::EntryWay& way(const Image& image, ElfAddress entry) const;
  /// The `ret` that calls out of the image return through, where the callee looks at that.
  std::optional<ElfAddress> gadget(const Image& image);

  /// hidden_hooks (functions_apart.hpp) of a module of the image.
  std::vector<CallSitePatch> hooks(const ProbeModule& module, bool linker_is_musl);

private:
  struct Known {
    explicit Known(Image of) : image(std::move(of)), survey(image) {}

    Image image; ///< keeps what it is known by
    elf::EntrySurvey survey;
    std::map<ElfAddress, elf::EntryWay> ways;
    std::optional<std::optional<ElfAddress>> gadget;
    std::optional<std::vector<CallSitePatch>> hooks; ///< as of an image at address 0
  };
  Known& known(const Image& image);

  std::unordered_map<const elf::Image*, std::unique_ptr<Known>> images_;
};

} // namespace sonictrace
