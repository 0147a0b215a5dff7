//! Other uses of what earlier calls made and answered.

use super::super::plan::{Answer, Argument, Call, Plan};
use super::super::random::Random;
use super::{is_maker, makers};

/// A call reads the task's image instead of what was made.
fn original(plan: &mut Plan, reader: usize) {
    let call = plan.get_mut(reader);
    let key = ["input_path", "base_image_path"].into_iter().find(|key| call.argument(key).is_some());
    match key {
        Some(key) => call.set(key, Argument::Image),
        None => call.set("image_paths", Argument::List(vec![Argument::Image])),
    }
}

/// The calls on pictures that read what was made.
fn readers(plan: &Plan) -> Vec<usize> {
    let reads = |call: &&Call| {
        let is_on_pictures = is_maker(&call.tool) || call.short() == "scan";
        is_on_pictures && !call.files().is_empty() && call.argument("overlay_image_path").is_none()
    };
    plan.calls().filter(reads).map(|call| call.id).collect()
}

/// The last one reads the task's image.
pub(super) fn original_last(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let reader = *readers(plan).last()?;
    original(plan, reader);
    Some(())
}

/// The first one of several does.
pub(super) fn original_first(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let readers = readers(plan);
    original(plan, *readers.first().filter(|_| readers.len() > 1)?);
    Some(())
}

/// Replaces the files of a call by others.
fn redirect(call: &mut Call, from: usize, to: usize) {
    call.each_argument(&mut |argument| {
        if let Argument::File(file) = argument {
            *file = if *file == from {
                to
            } else if *file == to {
                from
            } else {
                *file
            };
        }
    });
}

/// Whether a call makes a file that others may read.
fn makes_file(call: &Call) -> bool {
    is_maker(&call.tool) || call.tool == "files/write_file"
}

/// A call reads what a call of another branch made.
pub(super) fn other_branch(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let mut pairs = Vec::new();
    for reader in plan.calls() {
        for used in reader.files() {
            let step = plan.step_of(reader.id);
            let is_other = |call: &&Call| {
                call.id != used
                    && makes_file(call)
                    && call.tool.starts_with(plan.get(used).tool.split('/').next().unwrap_or_default())
                    && plan.step_of(call.id) < step
                    && !reader.files().contains(&call.id)
            };
            pairs.extend(plan.calls().filter(is_other).map(|other| (reader.id, used, other.id)));
        }
    }
    let (reader, used, other) = random.any(&pairs)?;
    redirect(plan.get_mut(reader), used, other);
    Some(())
}

/// Two files, each used where the other was: by two calls or by one.
pub(super) fn swap(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let pair = pair(plan)?;
    let ids: Vec<usize> = plan.calls().map(|call| call.id).collect();
    for id in ids {
        redirect(plan.get_mut(id), pair.0, pair.1);
    }
    Some(())
}

/// Two makers in one step whose files are both used.
fn pair(plan: &Plan) -> Option<(usize, usize)> {
    plan.steps.iter().find_map(|step| {
        let is_used = |call: &&Call| makes_file(call) && !plan.users(call.id).is_empty();
        let used: Vec<usize> = step.iter().filter(is_used).map(|call| call.id).collect();
        Some((*used.first()?, *used.get(1)?))
    })
}

/// Two files get each other's name where they are written, and where they are read the names stay.
pub(super) fn swap_written(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let (first, second) = pair(plan)?;
    let key = if plan.get(first).argument("output_path").is_some() { "output_path" } else { "path" };
    let paths = [first, second].map(|id| plan.get(id).argument(key).cloned());
    let [Some(one), Some(two)] = paths else { return None };
    swap(plan, random)?;
    plan.get_mut(first).set(key, two);
    plan.get_mut(second).set(key, one);
    Some(())
}

/// What was written over stays as it was, and later calls read that.
pub(super) fn stale(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let late = makers(plan).into_iter().find_map(|maker| {
        let call = plan.get(maker);
        let &[source] = call.files().as_slice() else { return None };
        let is_over = call.written().is_some() && call.written() == plan.get(source).written();
        (is_over && !plan.users(maker).is_empty()).then_some((source, maker))
    });
    let (source, maker) = late?;
    let path = plan.path("newer.png", None);
    for id in plan.users(maker) {
        redirect(plan.get_mut(id), maker, source);
    }
    plan.get_mut(maker).set("output_path", Argument::Path(path));
    Some(())
}

/// Changes one of the answers that calls use.
fn change_answer(
    plan: &mut Plan,
    random: &mut Random,
    change: impl Fn(&Plan, usize, &Answer) -> Option<Argument>,
) -> Option<()> {
    let mut found = Vec::new();
    for call in plan.calls() {
        let mut number = 0;
        call.clone().each_argument(&mut |argument| {
            if let Argument::Answer(answer) = argument {
                if let Some(other) = change(plan, call.id, answer) {
                    found.push((call.id, number, other));
                }
                number += 1;
            }
        });
    }
    let (id, number, other) = random.some(&found, 1).pop()?;
    let mut at = 0;
    plan.get_mut(id).each_argument(&mut |argument| {
        if matches!(argument, Argument::Answer(_)) {
            if at == number {
                *argument = other.clone();
            }
            at += 1;
        }
    });
    Some(())
}

/// Another answer, or another part of the same.
pub(super) fn other_answer(plan: &mut Plan, random: &mut Random) -> Option<()> {
    change_answer(plan, random, |plan, user, answer| {
        let mut other = answer.clone();
        let exchanged = [("/width", "/height"), ("/rect/x", "/rect/y"), ("/data", "/type")];
        if let Some((from, to)) = exchanged.iter().find(|(from, _)| answer.pointer.ends_with(from)) {
            other.pointer = answer.pointer.replace(from, to);
            return Some(Argument::Answer(other));
        }
        let step = plan.step_of(user);
        let is_other = |call: &&Call| {
            call.id != answer.call
                && call.tool.split('/').next() == plan.get(answer.call).tool.split('/').next()
                && plan.step_of(call.id) < step
        };
        other.call = plan.calls().find(is_other)?.id;
        (call_is_number(plan, other.call)).then_some(Argument::Answer(other))
    })
}

fn call_is_number(plan: &Plan, id: usize) -> bool {
    plan.get(id).tool.starts_with("math/") || plan.get(id).short() == "scan"
}

/// A number that is a little off.
pub(super) fn off(plan: &mut Plan, random: &mut Random) -> Option<()> {
    change_answer(plan, random, |plan, _, answer| {
        let is_number = plan.get(answer.call).tool.starts_with("math/");
        is_number.then(|| Argument::Answer(Answer { plus: answer.plus + 1.0, ..answer.clone() }))
    })
}

/// A number from before it was computed with.
pub(super) fn number_before(plan: &mut Plan, random: &mut Random) -> Option<()> {
    change_answer(plan, random, |plan, _, answer| {
        let call = plan.get(answer.call);
        let before = call.arguments.iter().find_map(|(_, argument)| match argument {
            Argument::Value(value) if value.is_number() => Some(argument.clone()),
            Argument::Value(value) => Some(Argument::Value(value.get(0)?.clone())),
            Argument::Answer(_) => Some(argument.clone()),
            _ => None,
        });
        before.filter(|_| call.tool.starts_with("math/"))
    })
}

/// The operands of a difference or a quotient are exchanged.
pub(super) fn swap_operands(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for call in plan.calls_mut() {
        for (one, two) in [("minuend", "subtrahend"), ("numerator", "denominator")] {
            let (Some(first), Some(second)) = (call.argument(one).cloned(), call.argument(two).cloned())
            else {
                continue;
            };
            call.set(one, second);
            call.set(two, first);
            has_any = true;
        }
    }
    has_any.then_some(())
}

/// The last picture is written over the task's image.
pub(super) fn write_original(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let last = *makers(plan).last()?;
    let image = plan.image;
    plan.get_mut(last).set("output_path", Argument::value(image));
    Some(())
}
