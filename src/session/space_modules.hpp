#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/module_book.hpp"
#include "session/window.hpp"
#include "sonictrace/base/debug_log.hpp"
#include "sonictrace/debuginfo/debug_info.hpp"
#include "sonictrace/engine/engine.hpp"
#include "sonictrace/probe/image_cache.hpp"
#include "sonictrace/probe/module_list.hpp"
#include "sonictrace/probe/planner.hpp"
#include "sonictrace/process/linker.hpp"
#include "sonictrace/process/unwinder.hpp"

namespace sonictrace {

/// What all address spaces of a session need to find and place probes.
struct ProbeContext {
  SelectorSet& selectors;
  ProbePlanner planner;
  ImageCache images;
  Recorder& recorder;
  ModuleBook book;
  Engine& engine;
  DebugInfo& debug_info;
  Unwinder unwinder;
  std::vector<std::string> complaints; ///< what could not be done, a line each
  std::vector<ModulePlan> reports;     ///< what was decided for each module
  std::uint64_t probes = 0;            ///< put in so far
  DebugLog debug = {};
  Window window = {};
};

/// A stopped thread that is lent for remote calls. Where one of these was its end, `tracee` is
/// empty behind it, and `killed` says how.
struct LentTracee {
  std::optional<StoppedTracee> tracee;
  std::optional<Exit> killed = std::nullopt;
};

/// What is sure of a process while its list of modules is looked at.
enum class Quiet : std::uint8_t {
  No,    ///< threads may run anywhere
  Fresh, ///< none has been in a module that is new in the list
  All,   ///< no thread runs
};

/// Why the list is looked at.
enum class Occasion : std::uint8_t {
  Attached, ///< modules that are there already may have come by dlopen
  Changed,  ///< the lent thread is stopped where the linker has just changed it
  Waiting,  ///< the same, but the thread that has changed it is not stopped
};

/// The modules of one address space: follows the dynamic linker's list, and has the engine watch
/// what the selectors choose in each new module.
class SpaceModules {
public:
  /// Of a process that has just run exec, or is being attached to. Fails where its program cannot
  /// be read, or is none that can be traced.
  static Result<std::unique_ptr<SpaceModules>> open(ProbeContext& context,
                                                    std::shared_ptr<AddressSpace> space);
  /// The same while it runs, before it is attached to: to look ahead. See `move_to`.
  static Result<std::unique_ptr<SpaceModules>> open_ahead(ProbeContext& context,
                                                          std::shared_ptr<AddressSpace> space);
  /// To the process as it was attached to. False where another program runs there by now.
  bool move_to(std::shared_ptr<AddressSpace> space);
  /// For a fork child, whose memory is a copy.
  std::unique_ptr<SpaceModules> copy_for(std::shared_ptr<AddressSpace> child) const;

  const std::shared_ptr<AddressSpace>& space() const { return space_; }
  /// No dynamic linker takes part.
  bool is_static() const {
    return linker_image_ == nullptr && (!linker_ || !linker_->rendezvous());
  }
  const ModuleList& modules() const { return modules_; }
  /// It was not brought up to date yet.
  bool is_untouched() const { return modules_.all().empty() || ahead_; }

  /// Marks the places where the list of modules changes.
  void watch(LentTracee& lent, Quiet quiet);
  /// Finds out what `update` will have to know, while threads may run and nothing is put in. What
  /// the list has become by then counts. Not for Occasion::Changed.
  void look_ahead(Occasion occasion);
  /// Brings the list up to date and probes what is new.
  void update(Occasion occasion, LentTracee& lent, Quiet quiet);

  /// Of an attach, whose probes go in bit by bit, so that no stop is long: there are more.
  bool has_more() const { return !later_.empty(); }
  /// Puts in some of them, with threads stopped as at `update`.
  void put_in_more(LentTracee& lent, Quiet quiet);
  /// What is not needed any more goes; takes a while.
  void tidy() { spent_.reset(); }

  /// `update` for Occasion::Waiting, while all threads run: puts in what none of them can notice.
  /// False: what is left is for `update_rest`, with stopped ones.
  bool update_unseen();
  void update_rest(LentTracee& lent, Quiet quiet);

  /// The window has begun: probes what has only been watched for its begin so far.
  void begin_recording(LentTracee& lent, Quiet quiet);

  /// The module that holds an address, or null.
  const ProbeModule* module_at(TraceeAddress address) const;
  /// A call of `function` went to `target`: corrects which module implements it. Returns which
  /// function such calls are of from now on.
  FunctionId rebind(FunctionId function, TraceeAddress target);

private:
  SpaceModules(ProbeContext& context, std::shared_ptr<AddressSpace> space)
      : context_(context), space_(std::move(space)) {}

  struct Loaded {
    LinkedModule linked;
    std::uint32_t id;
    AddressRange range; ///< of all its segments
  };
  /// An IFUNC's probe, whose place is known only once its slot is bound.
  struct Pending {
    PlannedProbe probe;
    FunctionId function;
  };
  /// What is to be put in for modules that are new.
  struct Planned {
    Plan plan;
    std::vector<SiteProbe> sites;
    std::vector<SiteProbe> later; ///< see put_off
    std::vector<Pending> pending;
  };
  /// What is to be put in, and told to the engine.
  struct Probing {
    std::vector<SiteProbe> sites;
    std::vector<MarkSite> marks;
    std::vector<const ProbeModule*> fresh;
    std::vector<MarkSite> ends; ///< behind all else
  };
  struct Found;
  /// What was found before it was asked for.
  struct Ahead {
    std::vector<std::uint32_t> fresh;
    std::optional<Planned> planned; ///< none before the window has begun
  };

  Result<void> find_program();
  void give_step_area();
  std::optional<ProbeModule> open_module(const LinkedModule& linked);
  void add_program_alone();
  bool drop_gone(const std::vector<LinkedModule>& now);
  std::vector<std::uint32_t> add_new(const std::vector<LinkedModule>& now, Occasion occasion,
                                     const LentTracee& lent);
  bool is_loaded_by_program(Occasion occasion, const LentTracee& lent);
  void sort_out_attached(const std::vector<std::uint32_t>& fresh);
  void probe(const std::vector<std::uint32_t>& fresh, std::optional<Planned> planned,
             LentTracee& lent, Quiet quiet);
  std::optional<Found> bring_up_to_date(Occasion occasion, LentTracee& lent, Quiet quiet);
  Probing probing_of(const std::vector<std::uint32_t>& fresh, std::optional<Planned> planned);
  void put_in(const Probing& all, LentTracee& lent, Quiet quiet);
  void put_in_unseen(Probing& all);
  void put_off(Planned& planned) const;
  void tell_put_in(std::size_t sites, std::size_t marks, std::size_t refused);
  std::vector<const ProbeModule*> found(const std::vector<std::uint32_t>& ids) const;
  std::vector<MarkSite> marks_on_calls(SelectorSet& selectors, Mark mark,
                                       const std::vector<std::uint32_t>& fresh) const;
  std::vector<MarkSite> marks_in(const ProbeModule& module) const;
  void say_module(std::string_view what, const std::string& path, AddressRange range) const;
  Planned plan_for(const std::vector<std::uint32_t>& fresh);
  void add_bound_sites(std::vector<SiteProbe>& sites);
  std::optional<TraceeAddress> implementation_of(const PlannedProbe& probe,
                                                 std::string_view name) const;
  std::optional<AddressRange> range_of(std::uint32_t id) const;
  const proto::Prototype* prototype_in(const ProbeModule& module, const std::string& mangled,
                                       ElfAddress address) const;
  const Loaded* loaded_at(TraceeAddress address) const;

  ProbeContext& context_;
  std::shared_ptr<AddressSpace> space_;
  AuxiliaryVector auxiliary_;
  std::shared_ptr<ParsedImage> program_;
  std::string program_path_;
  std::shared_ptr<ParsedImage> linker_image_;
  std::optional<DynamicLinker> linker_;
  std::vector<Loaded> loaded_;
  ModuleList modules_;
  std::optional<Ahead> ahead_;
  std::optional<Probing> rest_;  ///< of update_unseen
  std::vector<SiteProbe> later_; ///< see has_more; by their places, backwards
  std::size_t at_once_ = 0;      ///< how many of them
  std::optional<Planned> spent_; ///< see tidy
  std::vector<Pending> pending_;
  std::vector<MarkSite> waiting_marks_; ///< for the time when there is a probe
  std::vector<std::uint32_t> unprobed_; ///< modules that came before the window has begun
  bool has_probes_ = false;
  std::uint32_t next_id_ = 0;
  std::uint32_t batch_ = 0;
  bool has_modules_ = false; ///< the first list has been seen
  bool linker_is_marked_ = false;
  bool linker_state_is_told_ = false;
};

} // namespace sonictrace
