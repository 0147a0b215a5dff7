//! Texts of the formats that JSON Schema names (draft 2020-12, Validation, section 7.3). All names and addresses are
//! reserved for examples: domains of RFC 2606, addresses of RFC 5737 and RFC 3849.

use crate::seed::{Seed, Stream};

/// A text in this format; `None` if the format is not supported.
pub(super) fn text(format: &str, seed: &Seed) -> Option<String> {
    let mut stream = seed.stream();
    let random = &mut stream;
    Some(match format {
        "date-time" => format!("{}T{}", date(random), time(random)),
        "date" => date(random),
        "time" => time(random),
        "duration" => format!("P{}DT{}H", random.below(30), 1 + random.below(23)),
        "email" | "idn-email" => format!("user{}@example.com", random.below(1_000)),
        "hostname" | "idn-hostname" => format!("host{}.example.com", random.below(1_000)),
        "ipv4" => format!("192.0.2.{}", 1 + random.below(254)),
        "ipv6" => format!("2001:db8::{:x}", 1 + random.below(0xfffe)),
        "uri" | "iri" | "url" => format!("https://example.com/simulated/{}", random.below(100_000)),
        "uri-reference" | "iri-reference" => format!("/simulated/{}", random.below(100_000)),
        "uri-template" => format!("https://example.com/{}/{{id}}", random.below(100_000)),
        "uuid" => uuid(random),
        "json-pointer" => format!("/simulated/{}", random.below(100)),
        "relative-json-pointer" => format!("{}/simulated", random.below(10)),
        "regex" => format!("^simulated{}$", random.below(100)),
        _ => return None,
    })
}

/// A date from 2000 to 2029, with a day that every month has.
fn date(random: &mut Stream) -> String {
    format!("{:04}-{:02}-{:02}", 2000 + random.below(30), 1 + random.below(12), 1 + random.below(28))
}

fn time(random: &mut Stream) -> String {
    format!("{:02}:{:02}:{:02}Z", random.below(24), random.below(60), random.below(60))
}

/// A UUID of version 4, variant 1 (RFC 9562).
fn uuid(random: &mut Stream) -> String {
    let mut part = |count| random.below(count);
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        part(1 << 32),
        part(1 << 16),
        part(1 << 12),
        0x8000 + part(1 << 14),
        part(1 << 48)
    )
}
