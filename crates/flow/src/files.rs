//! Uses of files: which call reads a file that another call wrote.

use std::collections::HashMap;

use m3_support::text::shortened;

use super::lineage::{CallView, Lineage, Role};
use super::value_use::Use;
use crate::{CallStatus, Chain};

/// All uses of files. The source of a file is the last call of an earlier step that wrote it.
pub(crate) fn file_uses(chain: &Chain) -> Vec<Use> {
    let views = chain.calls.iter().map(|call| CallView {
        step: call.place.step,
        tool: &call.tool,
        arguments: call.arguments.as_ref(),
        // A name that only a result contains is found as a value.
        result: None,
        has_failed: call.standing != CallStatus::Succeeded,
    });
    let views: Vec<CallView<'_>> = views.collect();
    let lineage = Lineage::new(&views, None);
    // For each version that is changed in place, its last change: the call, and the place of the path in its arguments.
    let mut changed: HashMap<usize, (usize, &str)> = HashMap::new();
    let (mut pending, mut step) = (Vec::new(), 0);
    let mut uses = Vec::new();
    for (to, mentions) in lineage.mentions.iter().enumerate() {
        if views[to].step != step {
            step = views[to].step;
            changed.extend(pending.drain(..));
        }
        for mention in mentions {
            if let Role::Changes(version) = mention.role {
                pending.push((version, (to, mention.pointer.as_str())));
            }
            let Some(version) = mention.role.used_version() else { continue };
            let made = &lineage.versions[version];
            let of_maker = made.pointer.as_deref().map(|pointer| (made.call, pointer));
            let Some((from, pointer)) = changed.get(&version).copied().or(of_maker) else { continue };
            if views[from].step >= step {
                continue;
            }
            let text =
                chain.calls[to].arguments.as_ref().and_then(|arguments| arguments.pointer(&mention.pointer));
            uses.push(Use {
                from,
                to,
                value: shortened(text.and_then(|text| text.as_str()).unwrap_or_default(), 80),
                in_result: format!("arguments{pointer}"),
                in_arguments: mention.pointer.clone(),
                sources: std::sync::Arc::from([from]),
                times: 1,
            });
        }
    }
    uses
}
