//! Other values than the question asks for.

use serde_json::{Value, json};

use super::super::plan::{Argument, Call, Plan, whole as whole_number};
use super::super::random::Random;
use super::super::scenes::SIZE;
use super::{is_half, makers};

const EDGES: [&str; 4] = ["x1", "y1", "x2", "y2"];

/// A cut of the plan, and its edges.
fn cut(plan: &mut Plan, random: &mut Random) -> Option<(usize, [f64; 4])> {
    let cuts: Vec<usize> = makers(plan).into_iter().filter(|id| plan.get(*id).short() == "crop").collect();
    let id = random.any(&cuts)?;
    Some((id, EDGES.map(|edge| plan.get(id).number(edge).unwrap_or_default())))
}

fn set_edges(call: &mut Call, edges: [f64; 4]) {
    for (name, edge) in EDGES.iter().zip(edges) {
        call.set(name, Argument::Value(whole_number(edge)));
    }
}

/// The part beside it, as large.
pub(super) fn beside(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let (id, [x1, y1, x2, y2]) = cut(plan, random)?;
    let width = x2 - x1;
    let by = if x2 + width <= SIZE.0 as f64 { width } else { -x1.min(width) };
    set_edges(plan.get_mut(id), [x1 + by, y1, x2 + by, y2]);
    Some(())
}

/// Half of the part, and as much beside it.
pub(super) fn half_beside(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let (id, [x1, y1, x2, y2]) = cut(plan, random)?;
    let half = (x2 - x1) / 2.0;
    let by = if x2 + half <= SIZE.0 as f64 { half } else { -half.min(x1) };
    set_edges(plan.get_mut(id), [x1 + by, y1, x2 + by, y2]);
    Some(())
}

/// The part without its last two columns.
pub(super) fn narrower(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let (id, [x1, y1, x2, y2]) = cut(plan, random)?;
    set_edges(plan.get_mut(id), [x1, y1, x2 - 2.0, y2]);
    Some(())
}

/// All of the picture.
pub(super) fn whole(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let (id, _) = cut(plan, random)?;
    set_edges(plan.get_mut(id), [0.0, 0.0, SIZE.0 as f64, SIZE.1 as f64]);
    Some(())
}

/// Another turn, size, colour, text or area.
pub(super) fn other_edit(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let edits: Vec<usize> =
        makers(plan).into_iter().filter(|id| !matches!(plan.get(*id).short(), "crop" | "overlay")).collect();
    let id = random.any(&edits)?;
    let call = plan.get_mut(id);
    match call.short() {
        "rotate" => {
            let angle = call.number("angle")?;
            call.set("angle", Argument::Value(whole_number(if is_half(angle) { 90.0 } else { -angle })));
        }
        "resize" => {
            let factor = call.number("scale_factor")?;
            call.set("scale_factor", Argument::value(if factor < 1.0 { 0.75 } else { 1.25 }));
        }
        "change_color" => {
            let is_gray =
                matches!(call.argument("palette"), Some(Argument::Value(value)) if value == "grayscale");
            call.set("palette", Argument::value(if is_gray { "sepia" } else { "grayscale" }));
        }
        "blur" => change_items(call, "areas", &[("x1", json!(0)), ("blur_strength", json!(99))])?,
        "draw_rectangles" => change_items(call, "rectangles", &[("filled", json!(true)), ("x1", json!(1))])?,
        "draw_circles" => change_items(call, "circles", &[("center_x", json!(10))])?,
        "draw_arrows" => change_items(call, "arrows", &[("color", json!([255, 255, 0])), ("x2", json!(9))])?,
        "draw_texts" => change_items(call, "texts", &[("color", json!([0, 255, 0])), ("y", json!(30))])?,
        _ => return None,
    }
    Some(())
}

/// Sets members of the first item of a list.
fn change_items(call: &mut Call, list: &str, members: &[(&str, Value)]) -> Option<()> {
    match call.argument_mut(list)? {
        Argument::Value(Value::Array(items)) => {
            for (name, value) in members {
                items.first_mut()?[*name] = value.clone();
            }
        }
        Argument::List(items) => {
            let Argument::Object(known) = items.first_mut()? else { return None };
            for (name, value) in members {
                known.retain(|(known, _)| known != name);
                known.push(((*name).to_owned(), Argument::Value(value.clone())));
            }
        }
        _ => return None,
    }
    Some(())
}

/// A number that is read wrongly off the image.
pub(super) fn other_number(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let sums: Vec<usize> =
        plan.calls().filter(|call| call.tool.starts_with("math/")).map(|call| call.id).collect();
    let id = random.any(&sums)?;
    for (_, argument) in &mut plan.get_mut(id).arguments {
        let Argument::Value(value) = argument else { continue };
        let place = if value.is_array() { value.get_mut(0)? } else { value };
        let number = place.as_f64()?;
        *place = if number.fract() == 0.0 { whole_number(number + 1.0) } else { json!(number + 0.4) };
        return Some(());
    }
    None
}

/// Other words in a text that is written.
pub(super) fn other_text(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let call = plan.calls_mut().find(|call| call.tool == "files/write_file")?;
    let Argument::Text(parts) = call.argument_mut("content")? else { return None };
    match parts.first_mut()? {
        Argument::Value(Value::String(text)) => text.insert_str(0, "Draft "),
        other => *other = Argument::value("unknown"),
    }
    Some(())
}
