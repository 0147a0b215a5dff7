//! Which calls' arguments are compared: [`ComparedPair`].

use super::CallPlace;
use super::fidelity::CallFidelity;

/// A reference call and the predicted call that its arguments are compared with. It is another one than the alignment's
/// where the cosine hardly tells calls apart, or where calls differ in which files they use.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// Extra calls that ask for the rest of a list of which the predicted call asks for a part.
    pub joined: Vec<CallPlace>,
    /// How far their arguments ask for the same.
    pub fidelity: CallFidelity,
}

impl ComparedPair {
    /// All predicted calls that the reference call is compared with.
    pub(super) fn predictions(&self) -> impl Iterator<Item = CallPlace> + '_ {
        [self.predicted].into_iter().chain(self.joined.iter().copied())
    }
}
