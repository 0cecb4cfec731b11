#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sonictrace/proto/placement.hpp"
#include "sonictrace/proto/call_plan.hpp"

namespace sonictrace::proto {

/// Compiles one prototype. A step of the rendering goes with each capture step.
class PlanCompiler {
public:
  /// `levels`: of one struct in itself.
  PlanCompiler(const Prototype& prototype, const PlanOptions& options, std::uint32_t levels);
  CallPlan compile();
  /// Something was left out because there were too many steps.
  bool overflowed() const { return overflowed_; }

private:
  /// Which list of steps is being written.
  struct Steps {
    std::vector<wire::CaptureOp>& ops;
    std::vector<RenderStep>& looks;
    bool at_return;
  };
  /// Where a struct's element lies, for lengths.
  struct Owner {
    const Type* type = nullptr;
    std::vector<std::uint32_t> offsets;
  };

  CallPlan finish();
  void compile_result();
  void compile_parameter(std::size_t index);
  void compile_readings();
  void append_reading(Steps& steps, const std::vector<Parameter>& parameters, bool is_checked);
  std::optional<std::size_t> begin_filled(Steps& steps, const Parameter& parameter,
                                          const Placement& placement);
  void append_print_arguments(std::size_t index);
  void append_scan_arguments(std::size_t index);

  /// The steps of a value that lies at `placement` in the words.
  void append_placed(Steps& steps, const Type& type, const Placement& placement);
  void append_spread(Steps& steps, const Type& type, const Placement& placement,
                     std::uint32_t offset, const Owner& owner);
  void append_x87(Steps& steps, const Type& type);
  /// The steps of a value at `offset` from the base.
  void append(Steps& steps, const Type& type, std::uint32_t offset, const Owner& owner);
  void append_struct(Steps& steps, const Type& type, std::uint32_t offset);
  void append_sequence(Steps& steps, const Type& type, std::uint32_t offset, const Owner& owner);
  void append_array(Steps& steps, const Type& type, std::uint32_t offset, const Owner& owner);
  void append_pointer(Steps& steps, const Type& type, std::uint32_t offset, const Owner& owner);
  void append_text(Steps& steps, const Type& type, std::uint32_t offset, const Owner& owner);
  void append_elided(Steps& steps);
  void set_length(wire::CaptureOp& op, const Length& length, const Owner& owner, bool at_return);

  std::size_t begin(Steps& steps, const wire::CaptureOp& op, const RenderStep& look);
  void end(Steps& steps, std::size_t step);
  bool too_big(const Steps& steps);
  void set_second_length(wire::CaptureOp& op, const Length& length, bool at_return);
  std::uint32_t at_return(std::uint32_t entry_place);
  std::uint32_t count_room(const std::vector<wire::CaptureOp>& ops, std::size_t begin,
                           std::size_t end) const;
  std::uint16_t text_limit(const Type& type) const;

  const Prototype& prototype_;
  const PlanOptions& options_;
  const std::uint32_t levels_;
  const std::uint8_t word_;
  bool overflowed_ = false;
  std::vector<std::size_t> planned_; ///< where in the plan each parameter is
  CallPlan plan_;
  std::vector<Placement> places_; ///< of the parameters
  std::uint32_t variadic_ = 0;
  std::vector<const Type*> within_; ///< structs that are being expanded, for -A's levels
  std::size_t nesting_ = 0;         ///< of what is being expanded
  std::size_t pointers_ = 0;        ///< that lead to it
};

} // namespace sonictrace::proto
