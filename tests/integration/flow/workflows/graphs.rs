//! Names that a run chose, as those of its reference; graphs that are the same up to such names.

use std::path::Path;

use serde_json::Value;

use super::files::path_in_workspace;
use super::plan::Plan;
use super::remains::{Entity, Graph, LookedUp};

/// Names of a variant with those that they have in the reference.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    files: Vec<(String, String)>,
    entities: Vec<(String, String)>,
}

impl Names {
    /// Adds a file of the variant, and what the reference calls it.
    pub(crate) fn add(&mut self, name: &str, in_reference: &str) {
        self.files.push((name.to_owned(), in_reference.to_owned()));
    }

    /// Whether a file of the variant is known.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|(known, _)| known == name)
    }

    /// Whether a file of the reference is known.
    pub(crate) fn names_as(&self, in_reference: &str) -> bool {
        self.files.iter().any(|(_, known)| known == in_reference)
    }

    /// What the reference calls an entity.
    fn entity(&self, name: &str) -> String {
        let known = self.entities.iter().find(|(known, _)| known == name);
        known.map_or(name, |(_, in_reference)| in_reference).to_owned()
    }

    /// A text of the variant with the reference's files; names are replaced as whole words, longer ones first.
    pub(crate) fn translate(&self, text: &str) -> String {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
        let mut names: Vec<&(String, String)> =
            self.files.iter().filter(|(name, _)| !name.is_empty()).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let (mut translated, mut rest, mut before) = (String::new(), text, None);
        while let Some(first) = rest.chars().next() {
            let found = names.iter().find(|(name, _)| {
                rest.strip_prefix(name.as_str()).is_some_and(|after| !is_word(after.chars().next()))
            });
            let found = found.filter(|_| !is_word(before));
            let length = found.map_or(first.len_utf8(), |(name, _)| name.len());
            translated.push_str(found.map_or(&rest[..length], |(_, name)| name));
            before = rest[..length].chars().last();
            rest = &rest[length..];
        }
        translated
    }
}

/// All ways to name the variant's entities so that both graphs are the same; the names of each are added to `names`.
pub(crate) fn isomorphisms(plan: &Plan, reference: &Graph, variant: &Graph, names: &Names) -> Vec<Names> {
    if reference.entities.len() != variant.entities.len()
        || reference.relations.len() != variant.relations.len()
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    assign(plan, reference, variant, &mut Vec::new(), &mut |chosen| {
        let mut names = names.clone();
        for (entity, other) in reference.entities.iter().zip(chosen) {
            names.entities.push((variant.entities[*other].name.clone(), entity.name.clone()));
        }
        if same(reference, variant, &names) {
            found.push(names);
        }
    });
    found
}

/// Tries all assignments of entities whose types and numbers of notes agree.
fn assign(
    plan: &Plan,
    reference: &Graph,
    variant: &Graph,
    chosen: &mut Vec<usize>,
    take: &mut dyn FnMut(&[usize]),
) {
    let Some(entity) = reference.entities.get(chosen.len()) else { return take(chosen) };
    let is_asked = plan.entities.iter().any(|name| name.is_asked && name.name == entity.name);
    for (index, other) in variant.entities.iter().enumerate() {
        let is_possible = entity.kind == other.kind
            && entity.observations.len() == other.observations.len()
            && (!is_asked || entity.name == other.name);
        if is_possible && !chosen.contains(&index) {
            chosen.push(index);
            assign(plan, reference, variant, chosen, take);
            chosen.pop();
        }
    }
}

/// Whether the variant's graph is the reference's once its names are translated.
fn same(reference: &Graph, variant: &Graph, names: &Names) -> bool {
    sorted(reference, &Names::default()) == sorted(variant, names)
}

/// Name, type and notes of each entity, and the relations, in an order that does not depend on the graph's.
type Sorted = (Vec<(String, String, Vec<String>)>, Vec<[String; 3]>);

/// A graph with the reference's names.
fn sorted(graph: &Graph, names: &Names) -> Sorted {
    let entity = |entity: &Entity| {
        let mut notes: Vec<String> = entity.observations.iter().map(|note| names.translate(note)).collect();
        notes.sort();
        (names.entity(&entity.name), entity.kind.clone(), notes)
    };
    let relation = |[from, to, kind]: &[String; 3]| [names.entity(from), names.entity(to), kind.clone()];
    let mut entities: Vec<_> = graph.entities.iter().map(entity).collect();
    let mut relations: Vec<_> = graph.relations.iter().map(relation).collect();
    entities.sort();
    relations.sort();
    (entities, relations)
}

/// Whether a look of the variant answers what a look of the reference does.
pub(crate) fn fits(reference: &LookedUp, variant: &LookedUp, names: &Names) -> bool {
    let server = |look: &LookedUp| look.tool.split('/').next().unwrap_or_default().to_owned();
    if server(reference) != server(variant) {
        return false;
    }
    let (first, second) = (&reference.answer, &variant.answer);
    match reference.tool.as_str() {
        "barcode/scan" => codes_agree(first, second),
        "image/get_metainfo" => {
            let sides = |answer: &Value| ["width", "height"].map(|side| answer["dimensions"][side].as_i64());
            sides(first).into_iter().zip(sides(second)).all(|sides| match sides {
                (Some(first), Some(second)) => first.abs_diff(second) <= 2,
                _ => false,
            })
        }
        "memory/open_nodes" => {
            let shown = [first, second].map(Graph::from_answer);
            same(&shown[0], &shown[1], names)
        }
        _ => match (first.as_f64(), second.as_f64()) {
            (Some(first), Some(second)) => (first - second).abs() <= 1e-9 * first.abs().max(1.0),
            _ => texts(first, &Names::default()) == texts(second, names),
        },
    }
}

/// Whether the codes of two pictures say the same and are at the same places, within 2 pixels.
fn codes_agree(first: &Value, second: &Value) -> bool {
    let codes = |picture: &Value| picture["results"].as_array().cloned().unwrap_or_default();
    let (first, second) = (codes(first), codes(second));
    let side = |code: &Value, name: &str| code["rect"][name].as_i64().unwrap_or_default();
    let is_near = |one: &Value, two: &Value| {
        one["data"] == two["data"]
            && ["x", "y", "width", "height"].iter().all(|name| side(one, name).abs_diff(side(two, name)) <= 2)
    };
    first.len() == second.len() && first.iter().zip(&second).all(|(one, two)| is_near(one, two))
}

/// The texts of an answer, in any order, with the reference's names. (`read_multiple_files` puts a line between files, and
/// the path that it was asked for before each.)
fn texts(answer: &Value, names: &Names) -> Vec<String> {
    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    let by_path = |text: &str| match text.split_once(":\n") {
        Some((path, rest)) => format!("{}:\n{rest}", path_in_workspace(path, Path::new(""))),
        None => text.to_owned(),
    };
    let mut texts: Vec<String> =
        text.split("\n---\n").map(|text| names.translate(by_path(text).trim_end())).collect();
    texts.sort();
    texts
}
