//! The label of a variant: whether it leaves behind what its reference does. Arguments are never compared.
//!
//! - The files that were given are as the reference leaves them.
//! - Each picture of which no later call of the reference reads more than its size is among the pictures that the variant makes and makes
//!   nothing further of (`pictures`). Further pictures do no harm.
//! - The other files that the reference makes have the same content, up to names that the variant chose.
//! - The memory has the same graph, up to names of entities that the question does not give.
//! - What the last looks of the reference answered (numbers, codes, sizes, texts, entities), the variant learned too.
//!
//! A name that the question gives has to be that name.

use super::graphs::{Names, fits, isomorphisms};
use super::pictures::{alike, is_picture};
use super::plan::Plan;
use super::remains::{LeftFile, Remains};

/// What a file of the reference has to be called.
struct Place<'a> {
    path: &'a str,
    has_name: bool,
    has_folder: bool,
}

/// Whether a variant leaves behind what its reference does.
pub(crate) fn label(plan: &Plan, reference: &Remains, variant: &Remains) -> bool {
    let is_given_same = reference.given.len() == variant.given.len()
        && reference.given.iter().all(|(path, content)| match (content, variant.given.get(path)) {
            (Some(content), Some(Some(other))) => alike(content, other),
            (None, Some(None)) => true,
            _ => false,
        });
    let places: Vec<Place<'_>> = reference.files.iter().map(|file| place(plan, &file.path)).collect();
    let is_wanted =
        |file: &LeftFile, place: &Place<'_>| is_picture(&file.content) && (!file.is_read || place.has_name);
    let wanted: Vec<(&LeftFile, &Place<'_>)> =
        reference.files.iter().zip(&places).filter(|(file, place)| is_wanted(file, place)).collect();
    let found: Vec<Vec<usize>> = wanted
        .iter()
        .map(|(file, place)| {
            let is_it = |other: &LeftFile| {
                place.fits(&other.path)
                    && (!other.is_material || place.has_name)
                    && alike(&file.content, &other.content)
            };
            (0..variant.files.len()).filter(|index| is_it(&variant.files[*index])).collect()
        })
        .collect();
    let Some(chosen) = one_to_one(&found) else { return false };
    is_given_same && {
        let mut names = Names::default();
        for ((file, _), index) in wanted.iter().zip(&chosen) {
            names.add(&variant.files[*index].path, &file.path);
        }
        name_rest(reference, variant, &mut names);
        has_texts(reference, variant, &places, &mut names)
            && isomorphisms(plan, &reference.graph, &variant.graph, &names)
                .iter()
                .any(|names| has_answers(plan, reference, variant, names))
    }
}

/// What the question asks of the file at this path.
fn place<'a>(plan: &Plan, path: &'a str) -> Place<'a> {
    let named = plan.paths.iter().enumerate().find(|(index, _)| plan.whole_path(*index) == path);
    let folder = named.and_then(|(_, named)| named.folder);
    Place {
        path,
        has_name: named.is_some_and(|(_, named)| named.is_asked),
        has_folder: folder.is_some_and(|folder| plan.paths[folder].is_asked),
    }
}

impl Place<'_> {
    fn fits(&self, other: &str) -> bool {
        let parts = |path: &str| -> (String, String) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            (folder.to_owned(), name.to_owned())
        };
        let ((folder, name), (other_folder, other_name)) = (parts(self.path), parts(other));
        (!self.has_name || name == other_name) && (!self.has_folder || folder == other_folder)
    }
}

/// Pictures on the way have names too, which texts may repeat.
fn name_rest(reference: &Remains, variant: &Remains, names: &mut Names) {
    for file in reference.files.iter().filter(|file| is_picture(&file.content)) {
        let is_free = |other: &&LeftFile| !names.has(&other.path) && alike(&file.content, &other.content);
        let same_name = variant.files.iter().filter(is_free).find(|other| other.path == file.path);
        let other = same_name.or_else(|| variant.files.iter().find(is_free));
        if let Some(other) = other.filter(|_| !names.names_as(&file.path)) {
            names.add(&other.path, &file.path);
        }
    }
}

/// Whether the other files have their content; their names are added.
fn has_texts(reference: &Remains, variant: &Remains, places: &[Place<'_>], names: &mut Names) -> bool {
    let texts = reference.files.iter().zip(places).filter(|(file, _)| !is_picture(&file.content));
    for (file, place) in texts {
        let content = String::from_utf8_lossy(&file.content);
        let is_it = |other: &&LeftFile| {
            place.fits(&other.path)
                && !names.has(&other.path)
                && names.translate(&String::from_utf8_lossy(&other.content)) == content
        };
        let Some(other) = variant.files.iter().find(is_it) else { return false };
        names.add(&other.path, &file.path);
    }
    true
}

/// Whether the variant learned what the reference's last looks answered, each from a look of its own.
fn has_answers(plan: &Plan, reference: &Remains, variant: &Remains, names: &Names) -> bool {
    let last = reference.looked_up.iter().filter(|look| plan.users(look.call).is_empty());
    let found: Vec<Vec<usize>> = last
        .map(|look| {
            (0..variant.looked_up.len()).filter(|at| fits(look, &variant.looked_up[*at], names)).collect()
        })
        .collect();
    one_to_one(&found).is_some()
}

/// One of its own for each, out of those that are possible.
pub(crate) fn one_to_one(possible: &[Vec<usize>]) -> Option<Vec<usize>> {
    fn go(possible: &[Vec<usize>], taken: &mut Vec<usize>) -> bool {
        let Some(choices) = possible.get(taken.len()) else { return true };
        choices.iter().any(|choice| {
            if taken.contains(choice) {
                return false;
            }
            taken.push(*choice);
            let is_done = go(possible, taken);
            if !is_done {
                taken.pop();
            }
            is_done
        })
    }
    let mut taken = Vec::new();
    go(possible, &mut taken).then_some(taken)
}
