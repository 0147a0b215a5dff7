//! Other writings of the same paths.

use super::super::plan::{Argument, Call, Plan, Spelling};
use super::super::random::Random;

/// Changes every path that is read; texts that tell of one stay.
fn each_read(plan: &mut Plan, change: &mut dyn FnMut(&mut Argument)) -> Option<()> {
    let mut has_any = false;
    let mut change = |argument: &mut Argument| {
        if argument.is_file() {
            has_any = true;
            change(argument);
        }
    };
    for call in plan.calls_mut().filter(|call| !call.tool.starts_with("memory/")) {
        for (_, argument) in &mut call.arguments {
            match argument {
                Argument::List(parts) => parts.iter_mut().for_each(&mut change),
                other => change(other),
            }
        }
    }
    has_any.then_some(())
}

fn spelled(argument: &mut Argument, spelling: Spelling) {
    let inner = std::mem::replace(argument, Argument::Image);
    *argument = Argument::Spelled(spelling, Box::new(inner));
}

/// Absolute paths where something is read.
pub(super) fn absolute_reads(plan: &mut Plan, _: &mut Random) -> Option<()> {
    each_read(plan, &mut |argument| spelled(argument, Spelling::Absolute))
}

/// Absolute paths where something is written. (Results then tell absolute paths, and texts would repeat them.)
pub(super) fn absolute_writes(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let has_text = |call: &Call| call.argument("content").is_some() || call.tool.starts_with("memory/");
    if plan.calls().any(|call| has_text(call) && !call.files().is_empty()) {
        return None;
    }
    let mut has_any = false;
    for call in plan.calls_mut() {
        for (_, argument) in &mut call.arguments {
            if matches!(argument, Argument::Path(_)) {
                spelled(argument, Spelling::Absolute);
                has_any = true;
            }
        }
    }
    has_any.then_some(())
}

/// `./` before what is read.
pub(super) fn dot(plan: &mut Plan, _: &mut Random) -> Option<()> {
    each_read(plan, &mut |argument| spelled(argument, Spelling::Dot))
}

/// Doubled slashes in what is read.
pub(super) fn slashes(plan: &mut Plan, _: &mut Random) -> Option<()> {
    each_read(plan, &mut |argument| spelled(argument, Spelling::Slashes))
}

/// Any writing for each.
pub(super) fn mixed(plan: &mut Plan, random: &mut Random) -> Option<()> {
    each_read(plan, &mut |argument| {
        let spellings = [None, Some(Spelling::Absolute), Some(Spelling::Dot), Some(Spelling::Slashes)];
        if let Some(spelling) = *random.one(&spellings) {
            spelled(argument, spelling);
        }
    })
}

/// The task's image in another of the places where it is.
fn image_in(plan: &mut Plan, folder: &str) -> Option<()> {
    let name = format!("{folder}{}", plan.image.trim_start_matches("images/"));
    let mut has_any = false;
    plan.each_argument(&mut |argument| {
        if matches!(argument, Argument::Image) {
            *argument = Argument::value(name.clone());
            has_any = true;
        }
    });
    has_any.then_some(())
}

/// The image by its name alone.
pub(super) fn bare_image(plan: &mut Plan, _: &mut Random) -> Option<()> {
    image_in(plan, "")
}

/// The image in `media`.
pub(super) fn media_image(plan: &mut Plan, _: &mut Random) -> Option<()> {
    image_in(plan, "media/")
}
