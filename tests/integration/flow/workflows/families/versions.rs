//! Pictures that are written over, and pictures whose names only the results tell.

use super::super::plan::{Argument, named};
use super::super::scenes::scene;
use super::draft::Draft;

/// Every edit is written over the picture that it reads.
pub(super) fn in_place(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 1);
    draft.plan.image = image;
    let output = draft.output(regions[0].name);
    let mut picture = draft.cut(&regions[0], output);
    let mut words = vec![format!("Cut out {}", regions[0].words)];
    for _ in 0..draft.random.within(2, 3) {
        draft.plan.step();
        let edit = draft.choose(&picture);
        words.push(edit.words.clone());
        picture = draft.make(&picture, edit, output);
    }
    let is_asked = draft.random.chance(0.4);
    draft.say(&format!("{}.", words.join(", then ")));
    if is_asked {
        draft.plan.paths[output].is_asked = true;
        let path = draft.plan.whole_path(output);
        draft.say(&format!("One file is enough, {path}."));
        if let Some(folder) = draft.plan.paths[output].folder {
            draft.plan.paths[folder].is_asked = true;
        }
    }
}

/// No output is named: the server names it beside what it reads.
pub(super) fn default_names(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 2);
    draft.plan.image = image;
    let count = usize::try_from(draft.random.within(1, 2)).unwrap();
    let output = draft.output("unused");
    let parts: Vec<_> = regions[..count].iter().map(|region| draft.cut(region, output)).collect();
    draft.plan.step();
    for (part, region) in parts.iter().zip(&regions) {
        let edit = draft.choose(part);
        draft.say(&format!("Give me {} alone, and {}.", region.words, edit.words));
        draft.make(part, edit, output);
    }
    draft.plan.calls_mut().for_each(|call| call.remove("output_path"));
    if count == 1 && draft.random.chance(0.5) {
        draft.plan.step();
        draft.say("How large is the picture then?");
        let last = draft.plan.calls().last().map(|call| call.id).unwrap();
        draft.plan.call("image/get_metainfo", named([("input_path", Argument::File(last))]));
    }
}
