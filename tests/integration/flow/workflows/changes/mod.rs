//! Kinds of change that make a variant of a reference workflow. No kind is right or wrong by itself: that is for what
//! the variant leaves behind when it is run.

mod graph;
mod names;
mod order;
mod paths;
mod repetition;
mod sizes;
mod uses;
mod values;
mod writing;

use super::plan::Plan;
use super::random::Random;

/// Changes a plan; nothing where it does not apply.
type Change = fn(&mut Plan, &mut Random) -> Option<()>;

/// Kinds that come to the same by other calls, two cuts for one or a width for a factor: whether they do, only running tells.
pub(crate) const OTHER_CALLS: [&str; 8] = [
    "commuted",
    "edit_twice",
    "exchange_edits",
    "one_by_one",
    "two_cuts",
    "two_turns",
    "width_and_height",
    "width_only",
];

/// A kind of change: its name, and what is changed, one after the other.
struct Kind(&'static str, &'static [Change]);

const KINDS: &[Kind] = &[
    // Names.
    Kind("rename_numbers", &[names::numbers]),
    Kind("rename_words", &[names::words]),
    Kind("rename_digits", &[names::digits]),
    Kind("swap_names", &[names::swap]),
    Kind("swap_entity_names", &[names::swap_entities]),
    Kind("into_folder", &[names::into_folder]),
    Kind("default_names", &[names::default_names]),
    Kind("in_place", &[names::in_place]),
    Kind("own_names", &[names::own_names]),
    Kind("one_name", &[names::one_name]),
    Kind("same_name", &[names::same_name]),
    Kind("lossless_format", &[names::lossless]),
    Kind("jpeg", &[names::jpeg]),
    Kind("no_extension", &[names::no_extension]),
    Kind("rename_asked", &[names::rename_asked]),
    // Writings of paths.
    Kind("absolute_reads", &[paths::absolute_reads]),
    Kind("absolute_paths", &[paths::absolute_reads, paths::absolute_writes]),
    Kind("dot_paths", &[paths::dot]),
    Kind("slashes", &[paths::slashes]),
    Kind("bare_image", &[paths::bare_image]),
    Kind("media_image", &[paths::media_image]),
    Kind("mixed_paths", &[paths::mixed]),
    // Order, and more or fewer calls.
    Kind("reverse_steps", &[order::reverse]),
    Kind("one_call_steps", &[order::split]),
    Kind("branch_by_branch", &[order::branch_by_branch]),
    Kind("too_early", &[order::too_early]),
    Kind("exchange_edits", &[order::exchange]),
    Kind("look_first", &[repetition::look_first]),
    Kind("look_at_made", &[repetition::look_at_made]),
    Kind("look_last", &[repetition::look_last]),
    Kind("dead_end", &[repetition::dead_end]),
    Kind("dead_end_of_made", &[repetition::dead_end_of_made]),
    Kind("one_more_edit", &[repetition::one_more]),
    Kind("repeat_call", &[repetition::repeat]),
    Kind("edit_twice", &[repetition::twice]),
    Kind("drop_last", &[repetition::drop_last]),
    Kind("drop_middle", &[repetition::drop_middle]),
    // Other writings of the same values.
    Kind("angle_writing", &[writing::angle]),
    Kind("float_writing", &[writing::floats]),
    Kind("explicit_defaults", &[writing::defaults]),
    Kind("width_and_height", &[sizes::width_and_height]),
    Kind("width_only", &[sizes::width_only]),
    Kind("commuted", &[writing::commuted]),
    Kind("reversed_items", &[writing::reversed_items]),
    Kind("one_by_one", &[writing::one_by_one]),
    Kind("two_turns", &[writing::two_turns]),
    Kind("two_cuts", &[writing::two_cuts]),
    Kind("text_for_list", &[writing::text_for_list]),
    // Uses of what was made.
    Kind("original_last", &[uses::original_last]),
    Kind("original_first", &[uses::original_first]),
    Kind("other_branch", &[uses::other_branch]),
    Kind("swap_uses", &[uses::swap]),
    Kind("swap_written", &[uses::swap_written]),
    Kind("stale", &[uses::stale]),
    Kind("other_answer", &[uses::other_answer]),
    Kind("other_answer_off", &[uses::off]),
    Kind("number_before", &[uses::number_before]),
    Kind("swap_operands", &[uses::swap_operands]),
    Kind("write_original", &[uses::write_original]),
    // The graph.
    Kind("open_other", &[graph::open_other]),
    Kind("relate_other", &[graph::relate_other]),
    Kind("relate_backwards", &[graph::backwards]),
    Kind("observe_other", &[graph::observe_other]),
    Kind("swap_notes", &[graph::swap_notes]),
    Kind("other_type", &[graph::other_type]),
    // Other values.
    Kind("region_beside", &[values::beside]),
    Kind("region_half_beside", &[values::half_beside]),
    Kind("region_narrower", &[values::narrower]),
    Kind("region_whole", &[values::whole]),
    Kind("other_edit", &[values::other_edit]),
    Kind("other_number", &[values::other_number]),
    Kind("other_text", &[values::other_text]),
    // Several at once.
    Kind("names_order_paths", &[names::numbers, order::reverse, paths::absolute_reads]),
    Kind("names_writing", &[names::words, writing::angle]),
    Kind("names_folder_looks", &[names::words, names::into_folder, repetition::look_first]),
    Kind("swap_names_dots", &[names::swap, paths::dot]),
    Kind("defaults_branches", &[names::default_names, order::branch_by_branch]),
    Kind("in_place_dead_end", &[names::in_place, repetition::dead_end]),
    Kind("entities_items", &[names::swap_entities, writing::reversed_items]),
    Kind("names_original", &[names::numbers, uses::original_last]),
    Kind("names_region", &[names::words, values::beside]),
    Kind("names_uses", &[names::numbers, uses::swap]),
    Kind("swap_names_uses", &[names::swap, uses::swap]),
    Kind("names_edit", &[names::numbers, values::other_edit]),
    Kind("names_entity", &[names::digits, graph::relate_other]),
    Kind("names_answer", &[names::words, uses::other_answer]),
    Kind("names_drop", &[names::numbers, repetition::drop_middle]),
    Kind("absolute_branch", &[paths::absolute_reads, uses::other_branch]),
    Kind("defaults_original", &[names::default_names, uses::original_last]),
    Kind("swap_names_original", &[names::swap, uses::original_first]),
    Kind("in_place_edit", &[names::in_place, values::other_edit]),
    Kind("defaults_uses", &[names::default_names, uses::swap]),
    Kind("absolute_region", &[paths::absolute_reads, values::half_beside]),
    Kind("order_answer", &[order::reverse, uses::other_answer]),
    Kind("folder_drop", &[names::into_folder, repetition::drop_middle]),
    Kind("dots_early", &[paths::dot, order::too_early]),
    Kind("looks_uses", &[repetition::look_at_made, uses::swap]),
];

/// The number of kinds.
pub(crate) const COUNT: usize = KINDS.len();

/// The variants of a plan, by kind: all that apply, or this many of them where codes are read.
pub(crate) fn variants(
    plan: &Plan,
    seed: u64,
    number: usize,
    most_with_codes: usize,
) -> Vec<(&'static str, Plan)> {
    let mut variants = Vec::new();
    for (index, Kind(name, changes)) in KINDS.iter().enumerate() {
        let mut random = Random::new(seed ^ 0x5eed, (number * 1000 + index) as u64);
        let mut variant = plan.clone();
        if changes.iter().all(|change| change(&mut variant, &mut random).is_some()) {
            variant.tidy();
            variants.push((*name, variant));
        }
    }
    if plan.calls().any(|call| call.short() == "scan") {
        variants = Random::new(seed, u64::MAX - number as u64).some(&variants, most_with_codes);
    }
    variants
}

/// The calls that make a picture of pictures.
fn makers(plan: &Plan) -> Vec<usize> {
    plan.calls().filter(|call| is_maker(&call.tool)).map(|call| call.id).collect()
}

/// Whether a tool makes a picture.
fn is_maker(tool: &str) -> bool {
    tool.starts_with("image/") && tool != "image/get_metainfo"
}

/// Whether an angle in degrees is half a turn.
fn is_half(angle: f64) -> bool {
    (angle - 180.0).abs() < 0.5
}
