//! Writes plain values of Python as JSON: several times as fast as Python does, which holds the interpreter's lock.

use std::io::Write;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

/// What is deeper is left to Python, which has a limit of its own.
const DEEPEST: usize = 100;

/// A value as JSON; `None` for what is left to Python: other types than those of JSON, and their subclasses, numbers
/// that are not finite or beyond 64 bits, half of a surrogate pair, deep nesting.
#[pyfunction]
pub fn plain_json<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let mut text = Vec::with_capacity(1024);
    Ok(write(value, &mut text, 0)?.map(|()| PyBytes::new(value.py(), &text)))
}

fn write(value: &Bound<'_, PyAny>, text: &mut Vec<u8>, depth: usize) -> PyResult<Option<()>> {
    if depth > DEEPEST {
        return Ok(None);
    }
    if let Ok(it) = value.cast_exact::<PyString>() {
        return write_text(it, text);
    }
    if let Ok(it) = value.cast_exact::<PyDict>() {
        text.push(b'{');
        for (index, (key, member)) in it.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            let Ok(key) = key.cast_exact::<PyString>() else { return Ok(None) };
            if write_text(key, text)?.is_none() {
                return Ok(None);
            }
            text.push(b':');
            if write(&member, text, depth + 1)?.is_none() {
                return Ok(None);
            }
        }
        text.push(b'}');
    } else if let Ok(it) = value.cast_exact::<PyList>() {
        text.push(b'[');
        for (index, item) in it.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            if write(&item, text, depth + 1)?.is_none() {
                return Ok(None);
            }
        }
        text.push(b']');
    } else if value.is_none() {
        text.extend_from_slice(b"null");
    } else if let Ok(it) = value.cast_exact::<PyBool>() {
        text.extend_from_slice(if it.is_true() { b"true" } else { b"false" });
    } else if let Ok(it) = value.cast_exact::<PyInt>() {
        let Ok(number) = it.extract::<i64>() else { return Ok(None) };
        write!(text, "{number}")?;
    } else if let Ok(it) = value.cast_exact::<PyFloat>() {
        if !it.value().is_finite() {
            return Ok(None);
        }
        // As Python writes it: the digits of a number are part of the text that is embedded.
        text.extend_from_slice(it.repr()?.to_str()?.as_bytes());
    } else {
        return Ok(None);
    }
    Ok(Some(()))
}

fn write_text(value: &Bound<'_, PyString>, text: &mut Vec<u8>) -> PyResult<Option<()>> {
    let Ok(value) = value.to_str() else { return Ok(None) };
    serde_json::to_writer(text, value).map_err(std::io::Error::from)?;
    Ok(Some(()))
}
