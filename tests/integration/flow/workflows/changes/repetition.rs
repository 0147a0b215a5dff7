//! Changes that add calls to a plan or remove calls from it. Each returns `None` if the changed plan is of no use.

use super::super::plan::{Argument, Call, Plan, named};
use super::super::random::Random;
use super::{is_maker, makers};

fn look_at(plan: &mut Plan, file: Argument) -> Call {
    plan.new_call("image/get_metainfo", named([("input_path", file)]))
}

/// Looks at the image before anything else.
pub(super) fn look_first(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let call = look_at(plan, Argument::Image);
    plan.steps.insert(0, vec![call]);
    plan.calls().any(|call| is_maker(&call.tool)).then_some(())
}

/// Looks at every picture that was made, in the step after.
pub(super) fn look_at_made(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let all = makers(plan);
    for maker in &all {
        let call = look_at(plan, Argument::File(*maker));
        let step = plan.step_of(*maker) + 1;
        plan.steps.insert(step, vec![call]);
    }
    (!all.is_empty()).then_some(())
}

/// Looks at the end result: at the graph, the folder, or the codes in the last picture.
pub(super) fn look_last(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let uses = |server: &str| plan.calls().any(|call| call.tool.starts_with(server));
    let call = if uses("memory/") {
        plan.new_call("memory/read_graph", Vec::new())
    } else if uses("files/") {
        plan.new_call("files/list_directory", named([("path", Argument::value("."))]))
    } else {
        let last = *makers(plan).last()?;
        plan.new_call("barcode/scan", named([("image_paths", Argument::List(vec![Argument::File(last)]))]))
    };
    plan.steps.push(vec![call]);
    Some(())
}

/// Crops a part of the image that no call uses.
pub(super) fn dead_end(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let output = plan.path("try.png", None);
    let (x, y) = (random.within(0, 300), random.within(0, 200));
    let edges = [("x1", x), ("y1", y), ("x2", x + 250), ("y2", y + 180)];
    let mut arguments = named([("input_path", Argument::Image), ("output_path", Argument::Path(output))]);
    arguments.extend(edges.map(|(name, edge)| (name.to_owned(), Argument::value(edge))));
    let call = plan.new_call("image/crop", arguments);
    let has_makers = !makers(plan).is_empty();
    plan.steps.insert(0, vec![call]);
    has_makers.then_some(())
}

/// Edits the first picture that was made, under a new name that no call uses. Some other call edits that picture too.
pub(super) fn dead_end_of_made(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let first = *makers(plan).first()?;
    let is_used = plan.users(first).iter().any(|user| is_maker(&plan.get(*user).tool));
    let output = plan.path("try-2.png", None);
    let call = edit_of(plan, first, output);
    let step = plan.step_of(first) + 1;
    plan.steps.insert(step, vec![call]);
    is_used.then_some(())
}

/// Edits the last picture, under a new name.
pub(super) fn one_more(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let last = makers(plan).into_iter().rev().find(|maker| plan.users(*maker).is_empty())?;
    let output = plan.path("nicer.png", None);
    let call = edit_of(plan, last, output);
    plan.steps.push(vec![call]);
    Some(())
}

fn edit_of(plan: &mut Plan, maker: usize, output: usize) -> Call {
    let arguments = named([
        ("input_path", Argument::File(maker)),
        ("output_path", Argument::Path(output)),
        ("angle", Argument::value(45)),
    ]);
    plan.new_call("image/rotate", arguments)
}

/// Makes a call twice.
pub(super) fn repeat(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let ids: Vec<usize> =
        plan.calls().filter(|call| !call.tool.starts_with("files/")).map(|call| call.id).collect();
    let original = plan.get(random.any(&ids)?).clone();
    let step = plan.step_of(original.id) + 1;
    let again = plan.new_call(&original.tool, original.arguments);
    plan.steps.insert(step, vec![again]);
    Some(())
}

/// Makes an edit again, of its own result.
pub(super) fn twice(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let edits: Vec<usize> = makers(plan).into_iter().filter(|id| plan.get(*id).short() != "crop").collect();
    let edit = random.any(&edits)?;
    let original = plan.get(edit).clone();
    let key = if original.argument("input_path").is_some() { "input_path" } else { "base_image_path" };
    let mut again = plan.new_call(&original.tool, original.arguments);
    again.set(key, Argument::File(edit));
    let (step, id) = (plan.step_of(edit) + 1, again.id);
    plan.each_argument(&mut |argument| {
        if matches!(argument, Argument::File(file) if *file == edit) {
            *argument = Argument::File(id);
        }
    });
    plan.steps.insert(step, vec![again]);
    Some(())
}

/// Removes the last call.
pub(super) fn drop_last(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let last = plan.calls().last()?.id;
    remove(plan, last);
    (plan.calls().count() > 0).then_some(())
}

/// Removes an edit in the middle; the calls that read its result read its input instead.
pub(super) fn drop_middle(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let on_the_way: Vec<usize> = makers(plan)
        .into_iter()
        .filter(|id| plan.get(*id).argument("input_path").is_some() && !plan.users(*id).is_empty())
        .collect();
    let dropped = random.any(&on_the_way)?;
    let source = plan.get(dropped).argument("input_path")?.clone();
    plan.each_argument(&mut |argument| {
        if matches!(argument, Argument::File(file) if *file == dropped) {
            *argument = source.clone();
        }
    });
    remove(plan, dropped);
    plan.calls().any(|call| is_maker(&call.tool)).then_some(())
}

fn remove(plan: &mut Plan, id: usize) {
    plan.steps.iter_mut().for_each(|step| step.retain(|call| call.id != id));
}
