//! Tests of which tools are offered: the needed ones and distractors.

use std::collections::BTreeSet;

use m3_embedding::{Embedder, Embedding, Encoder, EncoderError, Identity};
use m3_mcp::ToolName;

use super::*;
use crate::distractors::{DistractorError, DistractorKind, distractors, narrowed};
use crate::seed::Seed;

/// An encoder that counts letters: texts with the same letters are near each other.
struct Letters(Identity);

impl Encoder for Letters {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
        done(texts.len());
        let count = |text: &str, letter| text.chars().filter(|c| *c == letter).count() as f32;
        Ok(texts.iter().map(|text| ('a'..='z').map(|letter| count(text, letter)).collect()).collect())
    }
}

fn embedder() -> Embedder {
    let identity = Identity {
        name: "letters".to_owned(),
        fingerprint: String::new(),
        dimensions: 26,
        max_tokens: 1_000,
    };
    Embedder::new(Box::new(Letters(identity)), None)
}

/// Servers `a`, `b`, `c` with tools of these names and descriptions.
fn letters(order: &[usize]) -> ToolCatalog {
    let tool =
        |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {}});
    let servers = [
        ServerTools::from_wire("a", vec![tool("x", "crop crop crop"), tool("y", "crop")]),
        ServerTools::from_wire("b", vec![tool("x", "zzzz"), tool("y", "crop crop crop")]),
        ServerTools::from_wire("c", vec![tool("x", "crop crow crow"), tool("w", "zzzz"), tool("v", "qqq")]),
    ];
    ToolCatalog { servers: order.iter().map(|&at| servers[at].clone()).collect() }
}

fn names(names: &[&str]) -> Vec<ToolName> {
    names.iter().map(|name| ToolName::parse(name).unwrap()).collect()
}

/// Distractors among the tools of servers that have no needed one.
fn chosen(
    catalog: &ToolCatalog,
    needed: &[ToolName],
    asked: (usize, DistractorKind),
    seed: u64,
    embedder: Option<&mut Embedder>,
) -> Result<Vec<ToolName>, DistractorError> {
    let is_of_needed = |name: &ToolName| needed.iter().any(|needed| needed.server == name.server);
    let others = catalog.tools().map(|(name, _)| name).filter(|name| !is_of_needed(name)).collect();
    distractors(catalog, needed, others, asked, Seed::new(seed), embedder)
}

#[test]
fn near_distractors_are_the_most_similar_tools_of_other_servers() {
    let needed = names(&["a/x"]);
    for order in [[0, 1, 2], [2, 1, 0]] {
        let near = |count| {
            chosen(&letters(&order), &needed, (count, DistractorKind::Near), 0, Some(&mut embedder()))
                .unwrap()
        };
        // Not a/y, which is of the needed server. By letters: b/y says the same words, c/x all but two letters; of the
        // rest b/x has the `x` of the needed tool's name, c/w and c/v nothing, and stand by name.
        assert_eq!(near(5), names(&["b/y", "c/x", "b/x", "c/v", "c/w"]));
        assert_eq!(near(1), names(&["b/y"]));
        assert_eq!(near(0), []);
    }
}

#[test]
fn random_distractors_depend_on_the_seed_and_not_on_the_order_of_the_catalog() {
    let needed = names(&["a/x"]);
    let random = |order: [usize; 3], seed| {
        chosen(&letters(&order), &needed, (2, DistractorKind::Random), seed, None).unwrap()
    };
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let chosen = random([0, 1, 2], seed);
        assert_eq!(chosen, random([2, 0, 1], seed));
        assert!(chosen.iter().all(|name| name.server != "a") && chosen[0] != chosen[1]);
        seen.extend(chosen);
    }
    // Each of five is missed 200 times with probability (3/5)^200.
    assert_eq!(seen.len(), 5);
}

#[test]
fn too_few_tools_or_no_encoder_is_an_error() {
    let needed = names(&["a/x"]);
    let catalog = letters(&[0, 1, 2]);
    let asked = |count, kind| chosen(&catalog, &needed, (count, kind), 0, None).unwrap_err().to_string();
    assert!(asked(6, DistractorKind::Random).starts_with("6 distractors are asked for, and 5 other tools"));
    assert!(asked(1, DistractorKind::Near).contains("near distractors are chosen with the encoder"));
}

#[test]
fn what_is_offered_is_shuffled_by_the_seed() {
    let offered: BTreeSet<ToolName> = names(&["a/x", "b/x", "c/x", "c/w", "c/v"]).into_iter().collect();
    let listed = |seed: Option<u64>| -> Vec<String> {
        narrowed(&letters(&[0, 1, 2]), &offered, seed.map(Seed::new))
            .tools()
            .map(|(name, _)| name.to_string())
            .collect()
    };
    assert_eq!(listed(None), ["a/x", "b/x", "c/x", "c/w", "c/v"]);
    let orders: BTreeSet<Vec<String>> = (0..100).map(|seed| listed(Some(seed))).collect();
    // 3! orders of servers, 3! of the tools of c; each is missed 100 times with probability (35/36)^100 = 6 %.
    assert!(orders.len() >= 25, "{}", orders.len());
    assert_eq!(listed(Some(7)), listed(Some(7)));
}
