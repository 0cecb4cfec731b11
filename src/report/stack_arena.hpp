#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonictrace::report {

/// Trees of stacks: each node is a frame with all that passed in it in one place of the tree.
/// Bounded: when there are too many nodes, what is below a new one is taken together.
class StackArena {
public:
  using Name = std::uint32_t;   ///< whatever the owner numbers
  using Handle = std::uint32_t; ///< of a node; 0 is none

  struct Node {
    Name name = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t calls = 0;
    std::uint64_t duration_ns = 0; ///< of those calls, with what was inside
    std::vector<Handle> children;  ///< sorted by name, each name once
  };

  static constexpr std::size_t kMostNodes = 1'000'000;

  explicit StackArena(std::size_t most = kMostNodes) : most_(most), nodes_(1) {}

  Handle make(Name name);
  const Node& operator[](Handle handle) const { return nodes_[handle]; }
  void add(Handle node, std::uint64_t self_ns, std::uint64_t calls, std::uint64_t duration_ns = 0) {
    nodes_[node].self_ns += self_ns;
    nodes_[node].calls += calls;
    nodes_[node].duration_ns += duration_ns;
  }

  /// Makes `child` one of `parent`'s: its numbers are added where there is one of its name. `child`
  /// is then gone.
  void adopt(Handle parent, Handle child);
  /// The children of `from` become those of `parent`; `from` is then gone.
  void adopt_children(Handle parent, Handle from);
  /// The child of this name; made where there is none.
  Handle child(Handle parent, Name name);
  /// Where there are too many nodes, all that is below `node` becomes one child of the name.
  void fold_if_full(Handle node, Name rest);

  bool has_folded() const { return has_folded_; }

private:
  void free(Handle node);
  /// The numbers of all that is below, which is then gone.
  Node take_below(Handle node);

  std::size_t most_;
  std::vector<Node> nodes_;
  std::vector<Handle> free_;
  bool has_folded_ = false;
};

} // namespace sonictrace::report
