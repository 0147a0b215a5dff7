//! Other names for what a workflow makes.

use super::super::plan::{Argument, Call, Plan};
use super::super::random::Random;
use super::{is_maker, makers};

/// Gives new names to what the question does not name.
fn rename(
    plan: &mut Plan,
    mut file: impl FnMut(&str) -> String,
    folder: &str,
    mut entity: impl FnMut() -> String,
) -> Option<()> {
    let mut has_any = false;
    for path in plan.paths.iter_mut().filter(|path| !path.is_asked) {
        has_any = true;
        path.name = match path.name.rsplit_once('.') {
            _ if path.is_folder => folder.to_owned(),
            Some((stem, extension)) => format!("{}.{extension}", file(stem)),
            None => file(&path.name),
        };
    }
    for name in plan.entities.iter_mut().filter(|name| !name.is_asked) {
        has_any = true;
        name.name = entity();
    }
    has_any.then_some(())
}

/// A counter.
fn counter() -> impl FnMut() -> usize {
    let mut last = 0;
    move || {
        last += 1;
        last
    }
}

/// `output_3.png`, `item_1`.
pub(super) fn numbers(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let first = usize::try_from(random.within(0, 40)).unwrap();
    let (mut file, mut entity) = (counter(), counter());
    rename(plan, |_| format!("output_{}", first + file()), "work", || format!("item_{}", first + entity()))
}

/// Words of a stranger.
pub(super) fn words(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let words = ["amber", "birch", "copper", "delta", "ember", "fjord", "grove", "harbor", "iris", "jade"];
    let words = random.some(&words, words.len());
    let (mut file, mut entity) = (counter(), counter());
    let word = |number: usize| {
        if number <= words.len() { words[number - 1].to_owned() } else { format!("word{number}") }
    };
    rename(plan, |_| word(file()), "scratch", || format!("{}-x", word(entity())))
}

/// `1.png`, `1`.
pub(super) fn digits(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let (mut file, mut entity) = (counter(), counter());
    rename(plan, |_| file().to_string(), "0", || entity().to_string())
}

/// The files of a kind that the question does not name, in the order in which they are written.
fn free_files(plan: &Plan, ending: &str) -> Vec<usize> {
    let mut files: Vec<usize> = Vec::new();
    for path in plan.calls().filter_map(Call::written) {
        let named = &plan.paths[path];
        if !named.is_asked && !named.is_folder && named.name.ends_with(ending) && !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

/// Names are exchanged among the files of a kind.
pub(super) fn swap(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for ending in [".png", ".txt"] {
        let files = free_files(plan, ending);
        let names: Vec<String> = files.iter().map(|file| plan.paths[*file].name.clone()).collect();
        has_any |= files.len() > 1;
        for (index, file) in files.iter().enumerate() {
            plan.paths[*file].name.clone_from(&names[(index + 1) % names.len()]);
        }
    }
    has_any.then_some(())
}

/// Names are exchanged among entities.
pub(super) fn swap_entities(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let names: Vec<String> =
        plan.entities.iter().filter(|name| !name.is_asked).map(|name| name.name.clone()).collect();
    let free = plan.entities.iter_mut().filter(|name| !name.is_asked);
    for (index, name) in free.enumerate() {
        name.name.clone_from(&names[(index + 1) % names.len()]);
    }
    (names.len() > 1).then_some(())
}

/// Pictures go into a folder, which the image server makes.
pub(super) fn into_folder(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let written: Vec<usize> =
        plan.calls().filter(|call| is_maker(&call.tool)).filter_map(Call::written).collect();
    let is_free = |path: &usize| !plan.paths[*path].is_asked && plan.paths[*path].folder.is_none();
    let free: Vec<usize> = written.into_iter().filter(is_free).collect();
    let name = *random.one(&["out", "pictures", "run-2"]);
    let folder = (!free.is_empty()).then(|| plan.path(name, None))?;
    for path in free {
        plan.paths[path].folder = Some(folder);
    }
    Some(())
}

/// Outputs are not named where the question does not ask for a name.
pub(super) fn default_names(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for maker in makers(plan) {
        let Some(path) = plan.get(maker).written() else { continue };
        let writers = plan.calls().filter(|call| call.written() == Some(path)).count();
        if !plan.paths[path].is_asked && writers == 1 {
            plan.get_mut(maker).remove("output_path");
            has_any = true;
        }
    }
    has_any.then_some(())
}

/// Edits are written over what they read, where nothing else reads it.
pub(super) fn in_place(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for maker in makers(plan) {
        let call = plan.get(maker);
        let &[source] = call.files().as_slice() else { continue };
        let (Some(written), Some(read)) = (call.written(), plan.get(source).written()) else { continue };
        let is_free = |path: usize| !plan.paths[path].is_asked;
        if written != read && is_free(written) && is_free(read) && plan.users(source).len() == 1 {
            plan.get_mut(maker).set("output_path", Argument::Path(read));
            has_any = true;
        }
    }
    has_any.then_some(())
}

/// What was written over something else gets a file of its own; the last keeps a name that was asked for.
pub(super) fn own_names(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for maker in makers(plan) {
        let Some(path) = plan.get(maker).written() else { continue };
        let last = plan.calls().filter(|call| call.written() == Some(path)).last().map(|call| call.id);
        if last != Some(maker) {
            let name = plan.path(&format!("version-{maker}.png"), None);
            plan.get_mut(maker).set("output_path", Argument::Path(name));
            has_any = true;
        }
    }
    has_any.then_some(())
}

/// All pictures get the same name, one over the other.
pub(super) fn one_name(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut files = free_files(plan, ".png");
    files.retain(|file| plan.calls().any(|call| call.written() == Some(*file) && is_maker(&call.tool)));
    let first = *files.first().filter(|_| files.len() > 1)?;
    for maker in makers(plan) {
        if plan.get(maker).written().is_some_and(|path| files.contains(&path)) {
            plan.get_mut(maker).set("output_path", Argument::Path(first));
        }
    }
    Some(())
}

/// Two pictures of one step get the same name.
pub(super) fn same_name(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let pair = plan.steps.iter().find_map(|step| {
        let made: Vec<&_> = step.iter().filter(|call| is_maker(&call.tool)).collect();
        let paths = (made.first()?.written()?, made.last()?.written()?);
        let is_free = !plan.paths[paths.1].is_asked && paths.0 != paths.1;
        is_free.then_some((paths.0, made.last()?.id))
    });
    let (path, second) = pair?;
    plan.get_mut(second).set("output_path", Argument::Path(path));
    Some(())
}

/// Replaces the ending of pictures that the question does not name.
fn ending(plan: &mut Plan, new: &str) -> Option<()> {
    let files = free_files(plan, ".png");
    for file in &files {
        let name = plan.paths[*file].name.trim_end_matches(".png").to_owned();
        plan.paths[*file].name = format!("{name}{new}");
    }
    (!files.is_empty()).then_some(())
}

/// Another kind of file that keeps every pixel.
pub(super) fn lossless(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let new = *random.one(&[".bmp", ".webp", ".tiff"]);
    ending(plan, new)
}

/// Another kind of file that does not.
pub(super) fn jpeg(plan: &mut Plan, _: &mut Random) -> Option<()> {
    ending(plan, ".jpg")
}

/// Names without an ending, which the image server adds.
pub(super) fn no_extension(plan: &mut Plan, _: &mut Random) -> Option<()> {
    ending(plan, "")
}

/// What the question names gets another name.
pub(super) fn rename_asked(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let mut has_any = false;
    for path in plan.paths.iter_mut().filter(|path| path.is_asked && !path.is_folder) {
        path.name = format!("my-{}", path.name);
        has_any = true;
    }
    for name in plan.entities.iter_mut().filter(|name| name.is_asked) {
        name.name.push_str("-1");
        has_any = true;
    }
    has_any.then_some(())
}
