#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/inline/bound_functions.hpp"
#include "engine/inline/image_knowledge.hpp"
#include "engine/inline/injected_agent.hpp"
#include "engine/inline/inline_setup.hpp"
#include "engine/inline/linker_knock.hpp"
#include "engine/inline/linker_line.hpp"
#include "engine/inline/plan_area.hpp"
#include "engine/inline/rendezvous.hpp"
#include "engine/inline/site_writer.hpp"
#include "sonictrace/engine/collector.hpp"
#include "sonictrace/engine/engine.hpp"
#include "sonictrace/engine/function_table.hpp"
#include "sonictrace/process/unwinder.hpp"

namespace sonictrace {

/// What the inline engine has put into one address space: the agent, and the patches that lead
/// there.
class InlineSpace {
public:
  InlineSpace(std::shared_ptr<AddressSpace> space, FunctionTable& functions, ImageKnowledge& images)
      : space_(std::move(space)), functions_(functions), images_(images) {}

  const std::shared_ptr<AddressSpace>& space() const { return space_; }
  /// Null: there is none.
  const InjectedAgent* agent() const { return agent_ ? &*agent_ : nullptr; }
  /// Why there will never be one.
  const std::optional<std::string>& why_not() const { return why_not_; }
  /// No earlier session has left an agent: `inject` need not look for one.
  void note_nothing_left() { nothing_is_left_ = true; }
  void give_up(std::string why) { why_not_ = std::move(why); }
  Result<void> inject(RemoteCaller& caller, const InlineSetup::Made& setup);
  /// An `inject` then knows where the dynamic linker's state is.
  void note_linker_mark(const Installation& what);

  /// Finds out what an `install` of this will have to know.
  static void prepare(const Installation& what, FunctionTable& functions, ImageKnowledge& images);

  /// What breakpoints have to do.
  struct Left {
    std::vector<SiteProbe> probes;
    std::vector<MarkSite> marks;
  };
  /// Patches what it can. `refused`: a line for each probe that can't be put in at all.
  Left install(const Installation& what, std::optional<StoppedTracee>& stopped,
               std::optional<Exit>& killed, std::vector<std::string>& refused);
  /// The place where the linker tells of modules, while it is watched by a breakpoint only.
  std::optional<TraceeAddress> linker_breakpoint() const {
    return agent_ && linker_mark_ && !rendezvous_ ? std::optional(linker_mark_->at) : std::nullopt;
  }
  /// Makes it knock, before the agent is there: then no breakpoint is needed. `tid`: the only
  /// thread, which is stopped elsewhere.
  bool knock_in_linker(pid_t tid, const MarkSite& mark);
  const std::optional<LinkerKnock>& knock() const { return knock_; }
  void end_knocking();
  /// Leads it to the agent instead; the breakpoint is gone. No thread runs.
  Result<void> patch_rendezvous(std::optional<StoppedTracee>& stopped, std::optional<Exit>& killed);
  /// The same mark once more, for a breakpoint after all.
  const MarkSite& linker_mark() const { return *linker_mark_; }
  void module_gone(AddressRange range);
  /// For backtraces. Parses, by `open`, what is not in the last survey.
  const std::vector<MappedCode>& survey(const CodeMap::OpenImage& open);
  OwnCode own_code() const;
  /// With all threads stopped, before `remove`: takes the patches out, but for those that tell
  /// unwinders of frames that may still be there. Whether a thread is in code of ours, or on its way
  /// through its frames.
  bool withdraw();
  /// Ends all recording. Takes the patches out where no thread of the process runs.
  void remove(bool code_is_quiet);

  /// For a fork child. Nothing is recorded there before `begin_copy`.
  std::shared_ptr<InlineSpace> copy_for(std::shared_ptr<AddressSpace> child) const;
  /// It has not begun to record for itself; its arena is still its parent's.
  bool is_idle_copy() const { return is_idle_copy_; }
  /// Gives the child an arena of its own. `ring`: of the thread that it was forked from, whose open
  /// calls are `inherited`.
  Result<void> begin_copy(RemoteCaller& caller, std::uint32_t ring,
                          std::span<const OpenCallFound> inherited);

  /// A thread that has faulted where the agent reads what may not be there, or a clock that was
  /// taken away: lets it go on.
  bool repair_fault(Registers& registers) const;
  bool is_in_agent(TraceeAddress pc) const;
  /// See SiteWriter.
  bool leave_stub(Registers& registers) const { return writer_ && writer_->leave_stub(registers); }
  /// How many calls are open in the thread, which is stopped.
  std::uint16_t depth_of(const Registers& registers) const;

  /// Where calls of functions were found to go.
  std::vector<BoundFunctions::Bound> take_bound() {
    return agent_ && !is_idle_copy_ ? bound_.take(*agent_->arena())
                                    : std::vector<BoundFunctions::Bound>();
  }
  bool waits_in_linker() const { return line_ && line_->is_asked(); }
  std::optional<Registers> linker_caller() const {
    return line_ ? std::optional(line_->caller()) : std::nullopt;
  }
  void let_linker_go() {
    if (line_) line_->answer();
  }

private:
  struct Sorted;
  void sort(const Installation& what, RemoteMapper& mapper, Sorted& into);
  void note_gadget(std::uint64_t gadget);
  void give_back_return_addresses();
  void take_patches_out();
  bool may_be_unwinding() const;
  bool is_anyone_in_agent() const;
  bool read_clock_for(Registers& registers) const;
  void find_ways(Sorted& into);

  std::shared_ptr<AddressSpace> space_;
  FunctionTable& functions_;
  ImageKnowledge& images_;
  std::optional<InjectedAgent> agent_;
  std::optional<SiteWriter> writer_;
  std::optional<PlanArea> plans_;
  std::optional<LinkerLine> line_;
  BoundFunctions bound_;
  std::optional<LinkerKnock> knock_;
  std::optional<Rendezvous> rendezvous_;
  std::optional<MarkSite> linker_mark_;
  bool counting_ = false;
  std::uint32_t first_pool_ = 0;  ///< those before are of earlier sessions
  std::uint32_t older_pools_ = 0; ///< as many were ever used by those
  bool is_musl_ = false;
  std::vector<MarkSite> withheld_marks_; ///< for the time when there is a breakpoint
  bool has_breakpoints_ = false;
  bool is_idle_copy_ = false;
  std::optional<std::string> why_not_;
  bool nothing_is_left_ = false; ///< of an earlier session
  std::span<const std::byte> image_;   ///< the agent's
  std::vector<MappedCode> mapped_;     ///< as of the last survey
  std::vector<TraceeAddress> gadgets_; ///< that calls return through; sorted
};

} // namespace sonictrace
