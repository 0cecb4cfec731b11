#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sonictrace/base/address.hpp"
#include "sonictrace/base/result.hpp"
#include "sonictrace/elf/image.hpp"

namespace sonictrace::elf {

enum class SlotBinding : std::uint8_t {
  JumpSlot,  ///< R_*_JUMP_SLOT: lazily bound, or at load time with BIND_NOW
  GlobDat,   ///< R_*_GLOB_DAT: bound at load time
  Irelative, ///< R_*_IRELATIVE: filled by an IFUNC resolver of this very image
};

/// A GOT slot that holds the address of a function, and what the loader puts there.
/// The texts live as long as the Image.
struct ImportSlot {
  ElfAddress slot;
  std::string_view name;    ///< mangled; of an Irelative slot the IFUNC's own name, or empty
  std::string_view version; ///< the version asked for, or empty
  SlotBinding binding = SlotBinding::JumpSlot;
  SymbolType type = SymbolType::None; ///< as the import states it (often None)
  ElfAddress defined_at; ///< where this image defines it itself (Irelative: the resolver), else 0
};

enum class SiteKind : std::uint8_t {
  /// jmp *slot: a PLT entry, or a tail call of no-PLT code; or the load from the slot that a
  /// retpoline's
  /// PLT entry begins with. The return address is on top of the stack.
  Jump,
  Call, ///< call *slot: no-PLT code. The return address is the next instruction's
};

/// An instruction that goes to the function a slot holds.
struct CallSite {
  ElfAddress at;            ///< of the jmp or call itself, its prefixes (bnd, notrack) included
  std::uint32_t import = 0; ///< index into CallTable::imports
  std::uint8_t size = 0;    ///< bytes of the instruction
  SiteKind kind = SiteKind::Jump;
  bool in_plt = false; ///< in a PLT section (or what looks like one), not in ordinary code
};

/// How a module calls functions of others, found through its relocations and decoded code.
struct CallTable {
  std::vector<ImportSlot> imports;
  std::vector<CallSite> sites; ///< sorted by address
  /// Imports whose slot is loaded into a register that is then called in the same function, as
  /// compilers hoist it out of loops (`mov slot(%rip),%r14` ... `call *%r14`): these calls can only
  /// be seen at the callee's entry. Indices into `imports`, sorted.
  std::vector<std::uint32_t> hoisted;
};

/// The slots that hold functions, by address: CallTable::imports, which no code needs to be decoded
/// for.
std::vector<ImportSlot> find_imports(const Image& image);

/// Whether the instruction that ends where `site` does refers to `slot`, and lies in code. Of
/// x86-64, by its last four bytes, which all sites end with.
bool refers_to_slot(const Image& image, const CallSite& site, ElfAddress slot);

/// Fails for a machine that it cannot decode. Linear in the size of the executable segments.
Result<CallTable> find_calls(const Image& image);

} // namespace sonictrace::elf
