//! The names that nearly every reader of a format needs.

pub(super) use super::Format;
pub(super) use crate::arguments::{arguments, call_id, named_tool, or_empty, tool};
pub(super) use crate::content::{Content, object, string};
pub(super) use crate::conversation::{Answer, Conversation};
pub(super) use crate::fields::{Fields, items_or_one, members, role};
pub(super) use crate::head::{Shape, messages};
pub(super) use crate::input::{At, Input, ReadError, Sink};
pub(super) use crate::outcome::Outcome;
pub(super) use crate::time::time;
pub(super) use crate::trace::{Notes, Trace, TraceKind, TracedCall};
pub(super) use crate::usage::Usage;
pub(super) use m3_trajectory::json::{Json, parse};
pub(super) use std::borrow::Cow;
pub(super) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
