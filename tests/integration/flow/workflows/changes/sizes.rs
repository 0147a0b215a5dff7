//! Sizes of pictures that are known before they are made, and other writings of a new size.

use super::super::plan::{Argument, Plan, whole};
use super::super::random::Random;
use super::super::scenes::SIZE;

/// Width and height of what a call makes, where they are known.
fn size(plan: &Plan, id: usize) -> Option<(f64, f64)> {
    let call = plan.get(id);
    let number = |name| call.number(name);
    if call.short() == "crop" {
        return Some((number("x2")? - number("x1")?, number("y2")? - number("y1")?));
    }
    let (width, height) = size_of_input(plan, id)?;
    match call.short() {
        "rotate" if number("angle")? % 180.0 == 0.0 => Some((width, height)),
        "rotate" if number("angle")? % 90.0 == 0.0 => Some((height, width)),
        "rotate" => None,
        "resize" => {
            let factor = number("scale_factor")?;
            // As the image server rounds: an error in the last digit costs no pixel.
            let scaled = |side: f64| (side * factor + 1e-6).floor();
            Some((scaled(width), scaled(height)))
        }
        _ => Some((width, height)),
    }
}

fn size_of_input(plan: &Plan, id: usize) -> Option<(f64, f64)> {
    match plan.get(id).argument("input_path")? {
        Argument::Image => Some((SIZE.0 as f64, SIZE.1 as f64)),
        Argument::File(source) => size(plan, *source),
        _ => None,
    }
}

/// Replaces every factor by a size.
fn by_size(plan: &mut Plan, has_height: bool) -> Option<()> {
    let mut has_any = false;
    let resizes: Vec<usize> =
        plan.calls().filter(|call| call.short() == "resize").map(|call| call.id).collect();
    for id in resizes {
        let Some((width, height)) = size(plan, id) else { continue };
        let call = plan.get_mut(id);
        call.remove("scale_factor");
        call.set("width", Argument::Value(whole(width)));
        if has_height {
            call.set("height", Argument::Value(whole(height)));
        }
        has_any = true;
    }
    has_any.then_some(())
}

/// Width and height for a factor.
pub(super) fn width_and_height(plan: &mut Plan, _: &mut Random) -> Option<()> {
    by_size(plan, true)
}

/// The width for a factor; the height follows.
pub(super) fn width_only(plan: &mut Plan, _: &mut Random) -> Option<()> {
    by_size(plan, false)
}
