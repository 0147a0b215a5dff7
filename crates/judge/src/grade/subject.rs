//! What is graded: [`Subject`].

use std::sync::Arc;

use m3_executor::run::TaskImage;
use m3_trajectory::Trajectory;

/// What is graded: a prediction, what it is compared with, and the image.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// What the program did.
    pub prediction: Trajectory,
    /// A right way to do it.
    pub reference: Option<Trajectory>,
    /// The image; none where the task has none, or where no grader is to see it.
    pub picture: Option<TaskImage>,
    /// The tools that were on offer, as [`offered`](super::offered) has them, where it is known: a grader of tool use is
    /// shown them.
    pub tools: Option<Arc<str>>,
}

impl Subject {
    /// The path of the task's image. As with the question, the reference knows it best: what is judged may have left it
    /// out or put another one in its place, and it is what providers are shown.
    #[must_use]
    pub fn image(&self) -> Option<&str> {
        let of_reference = self.reference.as_ref().and_then(|reference| reference.image.as_deref());
        of_reference.or(self.prediction.image.as_deref())
    }
}
