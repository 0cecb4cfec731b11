#include "report/stack_arena.hpp"

#include <algorithm>
#include <utility>

namespace sonictrace::report {

StackArena::Handle StackArena::make(Name name) {
  if (free_.empty()) {
    nodes_.emplace_back().name = name;
    return static_cast<Handle>(nodes_.size() - 1);
  }
  const Handle node = free_.back();
  free_.pop_back();
  nodes_[node].name = name;
  return node;
}

void StackArena::free(Handle node) {
  Node& one = nodes_[node];
  one.self_ns = one.calls = one.duration_ns = 0;
  one.children.clear(); // and keeps its memory for the next
  free_.push_back(node);
}

namespace {
auto place_of(std::vector<StackArena::Handle>& children, StackArena::Name name,
              const std::vector<StackArena::Node>& nodes) {
  return std::lower_bound(children.begin(), children.end(), name,
                          [&nodes](StackArena::Handle child, StackArena::Name wanted) {
                            return nodes[child].name < wanted;
                          });
}
} // namespace

// Stacks are as deep as a program likes: no recursion here.
void StackArena::adopt(Handle parent, Handle child) {
  std::vector<std::pair<Handle, Handle>> left = {{parent, child}};
  while (!left.empty()) {
    const auto [to, from] = left.back();
    left.pop_back();
    auto& children = nodes_[to].children;
    const auto place = place_of(children, nodes_[from].name, nodes_);
    if (place == children.end() || nodes_[*place].name != nodes_[from].name) {
      children.insert(place, from);
      continue;
    }
    const Handle same = *place;
    add(same, nodes_[from].self_ns, nodes_[from].calls, nodes_[from].duration_ns);
    for (const Handle grandchild : nodes_[from].children)
      left.emplace_back(same, grandchild);
    free(from);
  }
}

void StackArena::adopt_children(Handle parent, Handle from) {
  const auto children = std::move(nodes_[from].children);
  nodes_[from].children = {};
  for (const Handle child : children)
    adopt(parent, child);
  free(from);
}

StackArena::Handle StackArena::child(Handle parent, Name name) {
  const auto place = place_of(nodes_[parent].children, name, nodes_);
  if (place != nodes_[parent].children.end() && nodes_[*place].name == name) return *place;
  const auto index = place - nodes_[parent].children.begin();
  const Handle made = make(name); // moves the nodes
  auto& children = nodes_[parent].children;
  children.insert(children.begin() + index, made);
  return made;
}

void StackArena::fold_if_full(Handle node, Name rest) {
  if (nodes_.size() - free_.size() <= most_ || nodes_[node].children.empty()) return;
  has_folded_ = true;
  const Node below = take_below(node);
  add(child(node, rest), below.self_ns, below.calls, below.duration_ns);
}

StackArena::Node StackArena::take_below(Handle node) {
  Node sum;
  std::vector<Handle> left = std::move(nodes_[node].children);
  nodes_[node].children = {};
  while (!left.empty()) {
    const Handle one = left.back();
    left.pop_back();
    sum.self_ns += nodes_[one].self_ns;
    sum.calls += nodes_[one].calls;
    sum.duration_ns += nodes_[one].duration_ns;
    left.insert(left.end(), nodes_[one].children.begin(), nodes_[one].children.end());
    free(one);
  }
  return sum;
}

} // namespace sonictrace::report
