//! Other entities, relations and notes.

use super::super::plan::{Argument, Plan};
use super::super::random::Random;

/// Another entity than this one, if there is one.
fn other(plan: &Plan, random: &mut Random, entity: usize) -> Option<usize> {
    let others: Vec<usize> = (0..plan.entities.len()).filter(|other| *other != entity).collect();
    random.any(&others)
}

/// The items of a list of the calls of a tool.
fn items<'a>(plan: &'a mut Plan, tool: &str, list: &str) -> Vec<&'a mut Argument> {
    let mut all = Vec::new();
    for call in plan.calls_mut().filter(|call| call.tool == tool) {
        if let Some(Argument::List(items)) = call.argument_mut(list) {
            all.extend(items.iter_mut());
        }
    }
    all
}

/// A member of an item.
fn member<'a>(item: &'a mut Argument, name: &str) -> Option<&'a mut Argument> {
    match item {
        Argument::Object(members) => {
            members.iter_mut().find(|(known, _)| known == name).map(|(_, value)| value)
        }
        other => Some(other).filter(|_| name.is_empty()),
    }
}

/// One item of a list names another entity.
fn rename_one(plan: &mut Plan, random: &mut Random, place: (&str, &str, &str)) -> Option<()> {
    let (tool, list, name) = place;
    let count = items(plan, tool, list).len();
    let index = usize::try_from(random.within(0, i64::try_from(count).ok()? - 1).max(0)).ok()?;
    let now = {
        let mut items = items(plan, tool, list);
        match member(items.get_mut(index)?, name)? {
            Argument::Entity(entity) => *entity,
            _ => return None,
        }
    };
    let new = other(plan, random, now)?;
    let mut items = items(plan, tool, list);
    *member(items.get_mut(index)?, name)? = Argument::Entity(new);
    Some(())
}

/// Another entity is shown.
pub(super) fn open_other(plan: &mut Plan, random: &mut Random) -> Option<()> {
    has_entities(plan)?;
    rename_one(plan, random, ("memory/open_nodes", "names", ""))
}

/// A relation leads to another entity.
pub(super) fn relate_other(plan: &mut Plan, random: &mut Random) -> Option<()> {
    has_entities(plan)?;
    rename_one(plan, random, ("memory/create_relations", "relations", "to"))
}

/// A note goes to another entity.
pub(super) fn observe_other(plan: &mut Plan, random: &mut Random) -> Option<()> {
    has_entities(plan)?;
    if items(plan, "memory/add_observations", "observations").is_empty() {
        return None;
    }
    rename_one(plan, random, ("memory/add_observations", "observations", "entityName"))
}

/// Every relation backwards.
pub(super) fn backwards(plan: &mut Plan, _: &mut Random) -> Option<()> {
    has_entities(plan)?;
    for item in items(plan, "memory/create_relations", "relations") {
        let from = member(item, "from")?.clone();
        let to = std::mem::replace(member(item, "to")?, from);
        *member(item, "from")? = to;
    }
    Some(())
}

/// The notes of the first two entities are exchanged where they are created.
pub(super) fn swap_notes(plan: &mut Plan, _: &mut Random) -> Option<()> {
    has_entities(plan)?;
    let mut items = items(plan, "memory/create_entities", "entities");
    let notes =
        |items: &mut Vec<&mut Argument>, index: usize| member(items.get_mut(index)?, "observations").cloned();
    let first = notes(&mut items, 0)?;
    let second = notes(&mut items, 1)?;
    *member(items.get_mut(0)?, "observations")? = second;
    *member(items.get_mut(1)?, "observations")? = first;
    Some(())
}

/// Another type of an entity or of a relation.
pub(super) fn other_type(plan: &mut Plan, random: &mut Random) -> Option<()> {
    has_entities(plan)?;
    let (tool, list, name) = *random.one(&[
        ("memory/create_entities", "entities", "entityType"),
        ("memory/create_relations", "relations", "relationType"),
    ]);
    let mut items = items(plan, tool, list);
    *member(items.first_mut()?, name)? = Argument::value("part of");
    Some(())
}

fn has_entities(plan: &Plan) -> Option<()> {
    (plan.entities.len() > 1).then_some(())
}
