//! Other writings of the same: values, lists, and one call as several.

use serde_json::{Value, json};

use super::super::plan::{Argument, Call, Plan, named, whole};
use super::super::random::Random;
use super::{is_half, is_maker, makers};

/// The turns of a plan.
fn turns(plan: &Plan) -> Vec<usize> {
    plan.calls().filter(|call| call.short() == "rotate").map(|call| call.id).collect()
}

/// 90 as -270, 180 as -180, 30 as -330.
pub(super) fn angle(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let turns = turns(plan);
    for id in &turns {
        let call = plan.get_mut(*id);
        let angle = call.number("angle")?;
        let other = if angle > 0.0 { angle - 360.0 } else { angle + 360.0 };
        call.set("angle", Argument::Value(whole(other)));
    }
    (!turns.is_empty()).then_some(())
}

/// Whole numbers as `5.0`.
pub(super) fn floats(plan: &mut Plan, _: &mut Random) -> Option<()> {
    fn write(value: &mut Value) -> usize {
        match value {
            Value::Number(number) if number.is_i64() => {
                *value = json!(number.as_f64().unwrap());
                1
            }
            Value::Array(items) => items.iter_mut().map(write).sum(),
            Value::Object(members) => members.values_mut().map(write).sum(),
            _ => 0,
        }
    }
    let mut count = 0;
    plan.each_argument(&mut |argument| {
        if let Argument::Value(value) = argument {
            count += write(value);
        }
    });
    (count > 0).then_some(())
}

/// Defaults are written out.
pub(super) fn defaults(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for call in plan.calls_mut() {
        match call.tool.as_str() {
            "image/resize" => {
                call.set("interpolation", Argument::value("linear"));
                call.set("width", Argument::Value(Value::Null));
                call.set("height", Argument::Value(Value::Null));
            }
            "image/blur" => call.set("invert_areas", Argument::value(false)),
            "image/draw_arrows" => in_items(call, "arrows", "tip_length", &json!(0.1)),
            "image/draw_rectangles" => in_items(call, "rectangles", "color", &json!([0, 0, 0])),
            "image/draw_circles" => in_items(call, "circles", "filled", &json!(false)),
            "image/draw_texts" => in_items(call, "texts", "font_face", &json!("FONT_HERSHEY_SIMPLEX")),
            "files/edit_file" => call.set("dryRun", Argument::value(false)),
            _ => continue,
        }
        has_any = true;
    }
    has_any.then_some(())
}

/// Adds a member to the items of a list that have it not.
fn in_items(call: &mut Call, list: &str, name: &str, value: &Value) {
    match call.argument_mut(list) {
        Some(Argument::Value(Value::Array(items))) => {
            for item in items.iter_mut().filter(|item| item.get(name).is_none()) {
                item[name] = value.clone();
            }
        }
        Some(Argument::List(items)) => {
            for item in items {
                if let Argument::Object(members) = item
                    && members.iter().all(|(known, _)| known != name)
                {
                    members.push((name.to_owned(), Argument::Value(value.clone())));
                }
            }
        }
        _ => {}
    }
}

/// Sums and products in another order.
pub(super) fn commuted(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for call in plan.calls_mut() {
        match call.tool.as_str() {
            "math/multiply" => {
                let first = call.argument("firstNumber")?.clone();
                let second = call.argument("SecondNumber")?.clone();
                call.set("firstNumber", second);
                call.set("SecondNumber", first);
            }
            "math/sum" | "math/mean" | "math/median" => match call.argument_mut("numbers")? {
                Argument::List(numbers) => numbers.reverse(),
                Argument::Value(Value::Array(numbers)) => numbers.reverse(),
                _ => continue,
            },
            _ => continue,
        }
        has_any = true;
    }
    has_any.then_some(())
}

/// Lists of things that do not depend on each other.
const LISTS: [&str; 8] =
    ["rectangles", "texts", "areas", "image_paths", "paths", "entities", "relations", "names"];

/// The items of lists in reverse.
pub(super) fn reversed_items(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut scans = Vec::new();
    let mut has_any = false;
    for call in plan.calls_mut() {
        for (name, argument) in &mut call.arguments {
            let length = match argument {
                Argument::List(items) if LISTS.contains(&name.as_str()) => {
                    items.reverse();
                    items.len()
                }
                Argument::Value(Value::Array(items)) if LISTS.contains(&name.as_str()) => {
                    items.reverse();
                    items.len()
                }
                _ => continue,
            };
            has_any |= length > 1;
            if name == "image_paths" {
                scans.push((call.id, length));
            }
        }
    }
    // What is taken from the answer stands at another place of it.
    plan.each_argument(&mut |argument| {
        let Argument::Answer(answer) = argument else { return };
        let Some((_, length)) = scans.iter().find(|(id, _)| *id == answer.call) else { return };
        if let Some((index, rest)) = place_in_scan(&answer.pointer) {
            answer.pointer = format!("/images/{}{rest}", length - 1 - index);
        }
    });
    has_any.then_some(())
}

/// The picture that a place in the answer of a scan is of, and the rest of the place.
fn place_in_scan(pointer: &str) -> Option<(usize, String)> {
    let (index, rest) = pointer.strip_prefix("/images/")?.split_once('/')?;
    Some((index.parse().ok()?, format!("/{rest}")))
}

/// A call for each item of a list.
pub(super) fn one_by_one(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    let ids: Vec<usize> = plan.calls().map(|call| call.id).collect();
    for id in ids {
        let call = plan.get(id).clone();
        let Some(list) = LISTS
            .iter()
            .filter(|list| **list != "names" && **list != "paths")
            .find(|list| items(&call, list).len() > 1)
        else {
            continue;
        };
        has_any = true;
        let parts = items(&call, list);
        let mut all = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let mut one = plan.new_call(&call.tool, call.arguments.clone());
            if index == 0 {
                one.id = id;
            }
            one.set(list, part);
            // What is drawn one after the other is drawn on one picture.
            if index > 0 && is_maker(&call.tool) {
                one.set("input_path", Argument::File(all.last().map_or(id, |last: &Call| last.id)));
            }
            all.push(one);
        }
        redirect(plan, &call, &all);
        let step = plan.step_of(id);
        plan.steps[step].retain(|call| call.id != id);
        for (index, one) in all.into_iter().enumerate() {
            plan.steps.insert(step + index + 1, vec![one]);
        }
    }
    has_any.then_some(())
}

/// Lists of one item each.
fn items(call: &Call, list: &str) -> Vec<Argument> {
    match call.argument(list) {
        Some(Argument::List(items)) => items.iter().map(|item| Argument::List(vec![item.clone()])).collect(),
        Some(Argument::Value(Value::Array(items))) => {
            items.iter().map(|item| Argument::value(json!([item]))).collect()
        }
        _ => Vec::new(),
    }
}

/// What used a call uses its parts.
fn redirect(plan: &mut Plan, call: &Call, parts: &[Call]) {
    let last = parts.last().map_or(call.id, |part| part.id);
    plan.each_argument(&mut |argument| match argument {
        Argument::File(file) if *file == call.id => *file = last,
        Argument::Answer(answer) if answer.call == call.id => {
            if let Some((index, rest)) = place_in_scan(&answer.pointer) {
                answer.call = parts[index].id;
                answer.pointer = format!("/images/0{rest}");
            }
        }
        _ => {}
    });
}

/// A turn as two turns.
pub(super) fn two_turns(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let id = *turns(plan).first()?;
    let original = plan.get(id).clone();
    let angle = original.number("angle")?;
    let path = plan.path("half-way.png", None);
    let mut first = plan.new_call(&original.tool, original.arguments);
    first.set("angle", Argument::Value(whole(if is_half(angle) { 90.0 } else { 180.0 })));
    first.set("output_path", Argument::Path(path));
    let rest = if is_half(angle) { 90.0 } else { angle - 180.0 };
    before(plan, id, first, "angle", Argument::Value(whole(rest)));
    Some(())
}

/// A cut as two cuts, of which the first leaves a margin.
pub(super) fn two_cuts(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let id = makers(plan).into_iter().find(|id| plan.get(*id).short() == "crop")?;
    let original = plan.get(id).clone();
    let edges = ["x1", "y1", "x2", "y2"];
    let [x1, y1, x2, y2] = edges.map(|edge| original.number(edge).unwrap_or_default());
    let path = plan.path("roughly.png", None);
    let mut first = plan.new_call(&original.tool, original.arguments);
    let (left, top) = (20.0_f64.min(x1), 12.0_f64.min(y1));
    for (edge, value) in edges.iter().zip([x1 - left, y1 - top, x2 + 10.0, y2 + 10.0]) {
        first.set(edge, Argument::Value(whole(value)));
    }
    first.set("output_path", Argument::Path(path));
    before(plan, id, first, "x1", Argument::Value(whole(left)));
    let call = plan.get_mut(id);
    for (edge, value) in edges.iter().zip([left, top, left + x2 - x1, top + y2 - y1]) {
        call.set(edge, Argument::Value(whole(value)));
    }
    Some(())
}

/// Puts a call before another, which reads what it made and has another value of an argument.
fn before(plan: &mut Plan, id: usize, first: Call, name: &str, value: Argument) {
    let (step, made) = (plan.step_of(id), first.id);
    let call = plan.get_mut(id);
    call.set("input_path", Argument::File(made));
    call.set(name, value);
    plan.steps.insert(step, vec![first]);
}

/// A text for a list of one text.
pub(super) fn text_for_list(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for call in plan.calls_mut() {
        if let Some(Argument::List(items)) = call.argument("image_paths")
            && let [one] = items.as_slice()
        {
            call.arguments = named([("image_paths", one.clone())]);
            has_any = true;
        }
    }
    has_any.then_some(())
}
