#include "sonictrace/report/flame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "report/pending_calls.hpp"
#include "report/stack_arena.hpp"

namespace sonictrace::report {
namespace {

using Handle = StackArena::Handle;

constexpr StackArena::Name kFrameBit = 0x8000'0000; ///< a frame of a backtrace, else a FunctionId
constexpr StackArena::Name kGroup = 0xffff'ffff;    ///< holds children, and is no frame
constexpr StackArena::Name kRest = 0xffff'fffe;
constexpr std::size_t kMostFrames = 200'000; ///< of backtraces that are told apart
constexpr std::size_t kMostThreads = 10'000;
constexpr std::uint32_t kOtherThreads = 0xffff'ffff;

/// Of `libc.so.6(puts+0x1) [0x7f..]` the module and the function; of `libfoo.so+0x12 [0x7f..]` the
/// module and `libfoo.so+0x12`; of `[0x7f..]` only `[no module]`, since such addresses tell
/// nothing.
struct FrameText {
  std::string_view name;
  std::string_view module;
};

FrameText split_frame(std::string_view text) {
  const auto address = text.rfind(" [0x");
  std::string_view place =
      text.substr(0, address == std::string_view::npos ? text.size() : address);
  if (address == std::string_view::npos && text.starts_with('[')) return {"[no module]", {}};
  const auto open = place.find('(');
  if (open != std::string_view::npos && place.ends_with(')')) {
    std::string_view name = place.substr(open + 1, place.size() - open - 2);
    if (const auto plus = name.rfind("+0x"); plus != std::string_view::npos)
      name = name.substr(0, plus);
    if (!name.empty()) return {name, place.substr(0, open)};
  }
  const auto plus = place.rfind('+');
  return {place, plus == std::string_view::npos ? std::string_view() : place.substr(0, plus)};
}

} // namespace

/// Builds the tree of one log, of numbers, while it is read.
class Flame::Collector final : public LogPart {
public:
  Collector(Flame& flame, CallFilter& filter, const log::FunctionTable& functions)
      : flame_(flame), filter_(filter), functions_(functions) {}

  void finish(const log::LogReader& /*reader*/) override {
    flame_.take(*this, filter_, functions_);
  }

  void on_begin(const log::Call& call) override {
    settle();
    thread(call.tid).pending.begin(call.depth);
  }

  void on_call(const log::Call& call) override {
    settle();
    Thread& thread = this->thread(call.tid);
    thread.pending.end(call.depth);
    if (call.end == log::Call::End::Unfinished || call.end == log::Call::End::NoReturn) {
      // They have no time; their children go on being children of what is around them.
      if (call.end == log::Call::End::NoReturn) filter_.accepts(call, functions_);
      return;
    }
    last_ = {&thread,
             call.function,
             call.children,
             call.has_duration() ? call.self_ns : 0,
             call.has_duration() ? call.duration_ns : 0,
             filter_.accepts(call, functions_)};
    has_times_ = has_times_ || call.has_duration();
  }

  void on_frame(std::string_view frame) override {
    if (last_.thread != nullptr && last_.accepted) frames_.push_back(number_of(frame));
  }

  void on_event(const log::Event& event) override {
    settle();
    if (event.kind != log::LineKind::Exited && event.kind != log::LineKind::Exec) return;
    flush(thread(event.tid)); // what is called from now on is inside of none of them
  }

  /// All that was told of is in the tree then.
  void flush() {
    settle();
    for (auto& [tid, thread] : threads_)
      flush(thread);
  }

  const StackArena& arena() const { return arena_; }
  bool has_times() const { return has_times_; }
  FrameText frame(StackArena::Name name) const {
    return split_frame(frame_texts_[name & ~kFrameBit]);
  }
  /// In the order of the tids.
  std::vector<std::pair<std::uint32_t, Handle>> roots() const {
    std::vector<std::pair<std::uint32_t, Handle>> roots;
    for (const auto& [tid, thread] : threads_)
      roots.emplace_back(tid, thread.root);
    std::sort(roots.begin(), roots.end());
    return roots;
  }

private:
  struct Thread {
    PendingCalls<Handle> pending;
    Handle root = 0;
  };
  /// The call that was told last: its backtrace may follow.
  struct Last {
    Thread* thread = nullptr;
    log::FunctionId function = 0;
    std::uint32_t children = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t duration_ns = 0;
    bool accepted = false;
  };

  Thread& thread(std::uint32_t tid) {
    if (last_found_ != nullptr && last_tid_ == tid) return *last_found_;
    auto found = threads_.find(tid);
    if (found == threads_.end()) {
      const auto key = threads_.size() >= kMostThreads ? kOtherThreads : tid;
      found = threads_.try_emplace(key).first; // references into it stay
      if (found->second.root == 0) found->second.root = arena_.make(kGroup);
    }
    last_tid_ = tid;
    last_found_ = &found->second;
    return found->second;
  }

  StackArena::Name number_of(std::string_view frame) {
    const auto text = split_frame(frame);
    std::string key = fmt::format("{}({})", text.module, text.name);
    if (!text.name.empty() && text.name == text.module) key = text.module;
    // Kept in the form that split_frame() takes apart again.
    if (text.module.empty() || text.name.starts_with(text.module)) key = text.name;
    if (const auto known = frame_numbers_.find(key); known != frame_numbers_.end())
      return known->second;
    if (frame_texts_.size() >= kMostFrames) return kRest;
    const auto number = static_cast<StackArena::Name>(frame_texts_.size()) | kFrameBit;
    frame_texts_.push_back(key);
    frame_numbers_.emplace(std::move(key), number);
    return number;
  }

  /// Puts the last call in its place: where its backtrace says, or around those inside of it.
  void settle() {
    if (last_.thread == nullptr) return;
    Thread& thread = *last_.thread;
    Handle group = 0;
    if (last_.accepted && !frames_.empty()) {
      Handle at = thread.root;
      for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
        at = arena_.child(at, *frame);
      arena_.add(arena_.child(at, last_.function), last_.self_ns, 1, last_.duration_ns);
      group = inside(thread, arena_.make(kGroup));
    } else if (last_.accepted) {
      group = inside(thread, arena_.make(last_.function));
      arena_.add(group, last_.self_ns, 1, last_.duration_ns);
      arena_.fold_if_full(group, kRest);
    } else {
      group = inside(thread, arena_.make(kGroup));
    }
    thread.pending.push(group, [this](Handle& into, Handle from) { into = join(into, from); });
    frames_.clear();
    last_.thread = nullptr;
  }

  Handle inside(Thread& thread, Handle node) {
    thread.pending.take_last(last_.children, [&](Handle child) { put(node, child); });
    return node;
  }
  void put(Handle parent, Handle child) {
    if (arena_[child].name == kGroup)
      arena_.adopt_children(parent, child);
    else
      arena_.adopt(parent, child);
  }
  Handle join(Handle into, Handle from) {
    if (arena_[into].name != kGroup) {
      const Handle group = arena_.make(kGroup);
      arena_.adopt(group, into);
      into = group;
    }
    put(into, from);
    return into;
  }
  void flush(Thread& thread) {
    thread.pending.take_all([&](Handle node) { put(thread.root, node); });
    arena_.fold_if_full(thread.root, kRest);
  }

  Flame& flame_;
  CallFilter& filter_;
  const log::FunctionTable& functions_;
  StackArena arena_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::uint32_t last_tid_ = 0;
  Thread* last_found_ = nullptr;
  Last last_;
  std::vector<StackArena::Name> frames_; ///< of the last call, the innermost first
  std::vector<std::string> frame_texts_;
  std::unordered_map<std::string, StackArena::Name> frame_numbers_;
  bool has_times_ = false;
};

std::uint32_t Flame::child(std::uint32_t parent, FlameNode::Kind kind, std::string_view name,
                           std::string_view module) {
  for (const auto one : nodes_[parent].children) {
    auto& known = nodes_[one];
    if (known.name != name) continue;
    // A traced function is often a frame of another call's backtrace, too.
    const bool is_code =
        known.kind == FlameNode::Kind::Caller || known.kind == FlameNode::Kind::Call;
    const bool wants_code = kind == FlameNode::Kind::Caller || kind == FlameNode::Kind::Call;
    if (known.kind != kind && !(is_code && wants_code)) continue;
    if (known.module != module && !known.module.empty() && !module.empty()) continue;
    if (known.module.empty()) known.module = module;
    if (kind == FlameNode::Kind::Call) known.kind = kind;
    return one;
  }
  const auto made = static_cast<std::uint32_t>(nodes_.size());
  auto& node = nodes_.emplace_back();
  node.kind = kind;
  node.name = name;
  node.module = module;
  nodes_[parent].children.push_back(made);
  return made;
}

std::unique_ptr<LogPart> Flame::begin(const log::FunctionTable& functions, CallFilter& filter) {
  return std::make_unique<Collector>(*this, filter, functions);
}

Result<void> Flame::add(log::LogReader& reader, CallFilter& filter) {
  Collector collector(*this, filter, reader.functions());
  auto read = reader.pump(collector);
  take(collector, filter, reader.functions());
  return read;
}

void Flame::take(Collector& collector, CallFilter& filter, const log::FunctionTable& functions) {
  collector.flush();
  const auto& arena = collector.arena();
  has_times_ = has_times_ || collector.has_times();
  has_folded_ = has_folded_ || arena.has_folded();

  std::vector<std::string> names(functions.size());
  for (log::FunctionId id = 0; id < functions.size(); ++id)
    names[id] = demangle_ == DemangleStyle::None ? functions[id].name
                                                 : demangle(functions[id].name, demangle_);
  struct Step {
    Handle from;
    std::uint32_t to;
    std::size_t depth;
  };
  for (const auto& [tid, root] : collector.roots()) {
    if (arena[root].children.empty()) continue;
    const auto label = tid == log::kNoTid     ? std::string("first thread")
                       : tid == kOtherThreads ? std::string("other threads")
                                              : fmt::format("thread {}", tid);
    std::vector<Step> left = {{root, child(0, FlameNode::Kind::Thread, label, {}), 2}};
    while (!left.empty()) {
      const auto [from, to, depth] = left.back();
      left.pop_back();
      for (const auto handle : arena[from].children) {
        const auto& node = arena[handle];
        std::uint32_t place = to;
        if (node.name == kRest) {
          place = child(to, FlameNode::Kind::Rest, "(stacks taken together)", {});
        } else if ((node.name & kFrameBit) != 0) {
          const auto frame = collector.frame(node.name);
          place = child(to, FlameNode::Kind::Caller, frame.name, frame.module);
        } else if (const auto& function = functions[node.name];
                   !filter.accepts_module(function.module)) {
          filter.refuse(node.calls, node.duration_ns, node.self_ns);
          left.push_back({handle, to, depth});
          continue;
        } else if (depth < kDeepest) {
          place = child(to, FlameNode::Kind::Call, names[node.name], function.module);
          nodes_[place].call_class = class_of(function);
        } else if (nodes_[to].kind != FlameNode::Kind::Rest) {
          place = child(to, FlameNode::Kind::Rest, "(deeper)", {});
        }
        nodes_[place].self_ns += node.self_ns;
        nodes_[place].calls += node.calls;
        left.push_back({handle, place, depth + 1});
      }
    }
  }
  if (filter.depends_on_calls()) return;
  for (log::FunctionId id = 0; id < functions.size(); ++id) {
    const auto& function = functions[id];
    if (function.thinned_calls == 0) continue;
    if (!filter.accepts_function(function) || !filter.accepts_module(function.module)) {
      filter.refuse(function.thinned_calls, function.thinned_ns, function.thinned_ns);
      continue;
    }
    const auto thinned = child(0, FlameNode::Kind::Thread, "(only counted by the log)", {});
    const auto place = child(thinned, FlameNode::Kind::Call, names[id], function.module);
    nodes_[place].call_class = class_of(function);
    nodes_[place].self_ns += function.thinned_ns;
    nodes_[place].calls += function.thinned_calls;
    has_times_ = true;
  }
}

void Flame::finish() {
  // A child's place is behind its parent's.
  for (auto& node : nodes_) {
    node.total_ns = node.self_ns;
    node.total_calls = node.calls;
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    auto& node = nodes_[i];
    for (const auto child : node.children) {
      node.total_ns += nodes_[child].total_ns;
      node.total_calls += nodes_[child].total_calls;
    }
    std::sort(node.children.begin(), node.children.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto& left = nodes_[a];
      const auto& right = nodes_[b];
      if (left.total_ns != right.total_ns) return left.total_ns > right.total_ns;
      if (left.total_calls != right.total_calls) return left.total_calls > right.total_calls;
      return left.name < right.name;
    });
  }
}

} // namespace sonictrace::report
