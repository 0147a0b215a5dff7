//! Pairs of calls whose arguments are compared: [`ComparedPair`].

use super::CallPlace;
use super::fidelity::CallFidelity;

/// A reference call and the predicted call that its arguments are compared with. This may be another predicted call
/// than the alignment's, where the cosine hardly distinguishes calls, or where calls use different files.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// Extra calls that ask for the rest of a list, where the predicted call asks for only a part of it.
    pub joined: Vec<CallPlace>,
    /// The comparison of the arguments: how far the calls ask for the same.
    pub fidelity: CallFidelity,
}

impl ComparedPair {
    /// All predicted calls that the reference call is compared with.
    pub(super) fn predictions(&self) -> impl Iterator<Item = CallPlace> + '_ {
        [self.predicted].into_iter().chain(self.joined.iter().copied())
    }
}
