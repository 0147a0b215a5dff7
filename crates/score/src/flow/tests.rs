use m3_embedding::{Embedder, Embedding, Encoder, EncoderError, Identity};
use m3_trajectory::{CallForms, TrajectoryFile};

use crate::{ScoreOptions, Scorer};

/// Takes all texts for the same.
struct Indifferent(Identity);

impl Encoder for Indifferent {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
        done(texts.len());
        Ok(vec![vec![1.0]; texts.len()])
    }
}

/// How far the calls of a trajectory with these steps ask for the same as those of another one, in the order of the reference.
fn fidelities(prediction: &str, reference: &str) -> Vec<f64> {
    let trajectory = |steps: &str| {
        let text = format!(r#"{{"id": "a", "steps": [{steps}]}}"#);
        let file = TrajectoryFile::of_bytes("a", text.as_bytes(), CallForms::default(), &[]).unwrap();
        file.read(0).unwrap()
    };
    let (prediction, reference) = (trajectory(prediction), trajectory(reference));
    let identity = Identity { name: "none".into(), fingerprint: "1".into(), dimensions: 1, max_tokens: 256 };
    let mut embedder = Embedder::new(Box::new(Indifferent(identity)), None);
    let pairs = [(Some(&prediction), &reference)];
    let scores = Scorer::new(ScoreOptions::default(), &mut embedder).score_pairs(pairs).unwrap();
    scores[0].as_ref().unwrap().compared.iter().map(|pair| pair.fidelity.score).collect()
}

/// A step whose one call writes files, each under an argument of its own.
fn writes(tool: &str, files: &[&str]) -> String {
    let members = files.iter().enumerate().map(|(at, file)| format!(r#""output_path_{at}": "{file}""#));
    let arguments = members.collect::<Vec<_>>().join(", ");
    format!(r#"{{"calls": [{{"name": "{tool}", "arguments": {{{arguments}}}}}]}}"#)
}

#[test]
fn what_the_reference_writes_over_too_is_not_lost() {
    let twice =
        |first: &[&str], second: &[&str]| [writes("s/draw", first), writes("s/paint", second)].join(", ");
    for (first, second) in [
        (&["out/a.png"][..], &["out/a.png"][..]),
        (&["out/a.png", "out/b.png"], &["out/a.png"]),
        (&["out/a.png", "out/b.png"], &["out/a.png", "out/b.png"]),
    ] {
        let steps = twice(first, second);
        assert_eq!(fidelities(&steps, &steps), [1.0, 1.0], "{steps}");
    }
    // The reference leaves both behind.
    let lost = fidelities(
        &twice(&["out/a.png", "out/b.png"], &["out/a.png"]),
        &twice(&["out/a.png", "out/b.png"], &["out/c.png"]),
    );
    assert!(lost[0] < 0.5, "{lost:?}");
}
