#include "engine/breakpoint/open_calls.hpp"

#include <algorithm>

namespace sonictrace {

/// `judge` says what became of a call on the right stack; one whose slot is not below `limit` is
/// alive.
template <class Judge>
std::vector<EndedCall> OpenCalls::end(StackId stack, TraceeAddress limit, Judge judge,
                                      const ReadWord& read) {
  std::vector<EndedCall> ended;
  if (stack.exclusive)
    judge_newest(stack, judge, ended);
  else
    judge_below(stack, limit, judge, read, ended);
  if (!ended.empty()) remove(ended);
  return ended;
}

/// Everything that lies above an alive call on a stack of its own is alive too, so the search ends
/// there.
template <class Judge>
void OpenCalls::judge_newest(StackId stack, Judge judge, std::vector<EndedCall>& ended) {
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (call->stack.region != stack.region) continue;
    const Verdict verdict = judge(*call);
    if (verdict == Verdict::Alive) return;
    ended.push_back({*call, verdict == Verdict::Returned});
  }
}

/// Where stacks may lie side by side, "below" proves nothing: only a return address that is no
/// longer there does.
template <class Judge>
void OpenCalls::judge_below(StackId stack, TraceeAddress limit, Judge judge, const ReadWord& read,
                            std::vector<EndedCall>& ended) {
  auto place = side_by_side_.lower_bound({stack.region, TraceeAddress(), 0});
  const auto end = side_by_side_.lower_bound({stack.region, limit, 0});
  for (; place != end; ++place) {
    const OpenCall& call = calls_[index_of(std::get<2>(*place))];
    const Verdict verdict = judge(call);
    if (verdict == Verdict::Alive) continue;
    if (verdict == Verdict::Left && read(call.slot) == call.return_address.value()) continue;
    ended.push_back({call, verdict == Verdict::Returned});
  }
  std::sort(ended.begin(), ended.end(),
            [](const EndedCall& a, const EndedCall& b) { return a.call.call > b.call.call; });
}

/// The oldest call at this place was made by the caller itself, later ones by tail calls.
const OpenCall* OpenCalls::oldest_at(TraceeAddress slot, TraceeAddress return_address,
                                     StackId stack) const {
  const OpenCall* oldest = nullptr;
  if (!stack.exclusive) {
    for (auto place = side_by_side_.lower_bound({stack.region, slot, 0});
         place != side_by_side_.end() && std::get<0>(*place) == stack.region &&
         std::get<1>(*place) == slot && oldest == nullptr;
         ++place) {
      const OpenCall& call = calls_[index_of(std::get<2>(*place))];
      if (call.return_address == return_address) oldest = &call;
    }
    return oldest;
  }
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (call->stack.region != stack.region) continue;
    if (slot < call->slot) break;
    if (call->slot == slot && call->return_address == return_address) oldest = &*call;
  }
  return oldest;
}

std::size_t OpenCalls::index_of(std::uint64_t call) const {
  const auto at =
      std::lower_bound(calls_.begin(), calls_.end(), call,
                       [](const OpenCall& open, std::uint64_t id) { return open.call < id; });
  return static_cast<std::size_t>(at - calls_.begin());
}

/// `ended`: newest first.
void OpenCalls::remove(const std::vector<EndedCall>& ended) {
  for (const auto& [call, returned] : ended)
    side_by_side_.erase(place_of(call));
  const std::size_t lowest = index_of(ended.back().call.call);
  if (calls_.size() - lowest == ended.size()) { // the newest ones: as a rule
    calls_.resize(lowest);
    return;
  }
  auto next = ended.rbegin();
  const auto is_ended = [&](const OpenCall& call) {
    if (next == ended.rend() || next->call.call != call.call) return false;
    ++next;
    return true;
  };
  auto kept = calls_.begin() + static_cast<std::ptrdiff_t>(lowest);
  for (auto call = kept; call != calls_.end(); ++call)
    if (!is_ended(*call)) *kept++ = std::move(*call);
  calls_.erase(kept, calls_.end());
}

std::vector<EndedCall> OpenCalls::end_at_return(TraceeAddress pc, TraceeAddress sp, StackId stack,
                                                const ReadWord& read) {
  return end(
      stack, sp,
      [&](const OpenCall& call) {
        if (call.slot + 8 == sp && call.return_address == pc) return Verdict::Returned;
        return call.slot < sp ? Verdict::Left : Verdict::Alive;
      },
      read);
}

std::vector<EndedCall> OpenCalls::end_at_call(TraceeAddress slot, TraceeAddress return_address,
                                              TraceeAddress site, StackId stack,
                                              std::uint64_t unwound_since, const ReadWord& read) {
  const OpenCall* oldest = unwound_since > 0 ? oldest_at(slot, return_address, stack) : nullptr;
  if (oldest != nullptr && oldest->site == site && unwound_since > oldest->begin_ns) {
    // Here the return address is in its place, put there by the new call: no proof of life.
    std::vector<EndedCall> again;
    for (const OpenCall* call = &calls_.back(); call >= oldest; --call)
      if (call->stack.region == stack.region && call->slot <= slot) again.push_back({*call, false});
    remove(again);
    return again;
  }
  return end(
      stack, slot + 1,
      [&](const OpenCall& call) {
        if (call.slot == slot)
          return call.return_address == return_address ? Verdict::Alive : Verdict::Left;
        return call.slot < slot ? Verdict::Left : Verdict::Alive;
      },
      read);
}

std::vector<EndedCall> OpenCalls::end_below(TraceeAddress sp, StackId stack, const ReadWord& read) {
  return end(
      stack, sp,
      [&](const OpenCall& call) { return call.slot < sp ? Verdict::Left : Verdict::Alive; }, read);
}

const OpenCall* OpenCalls::find(TraceeAddress slot, TraceeAddress return_address) const {
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call)
    if (call->slot == slot && call->return_address == return_address) return &*call;
  return nullptr;
}

} // namespace sonictrace
