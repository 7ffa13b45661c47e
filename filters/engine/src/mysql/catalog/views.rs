//! All views that the session may see: which of them may show a protected table, and which stand upon what it may not see, so
//! that nobody here knows what they show.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fieldveil_sql::{MySqlDialect, ViewSource, view_sources};

use super::NameFolding;
use crate::server_catalog::words_of_view;
use fieldveil_sql::sorted::sorted;

/// Databases in which nobody makes a view or a table.
const NOBODYS: [&str; 2] = ["information_schema", "performance_schema"];

/// Schema and name.
pub type Place = (String, String);

/// The views of a session.
#[derive(Default)]
pub struct Views {
    /// With their queries: at first all of them, then those that may show a protected table.
    queries: HashMap<Place, String>,
    /// What the others stand upon; None where that is not understood.
    others: Vec<(Place, Option<Vec<Place>>)>,
    /// The relations that the session may see.
    seen: HashSet<Place>,
}

impl Views {
    /// One that the server told of, with its query, empty where this user may not see it.
    pub fn add(&mut self, schema: String, name: String, query: String) {
        self.queries.insert((schema, name), query);
    }

    /// A relation that the session may see.
    pub fn see(&mut self, schema: &str, name: &str, folding: &NameFolding<'_>) {
        self.seen.insert(folding.place(schema, name));
    }

    /// The query of a view that may show a protected table.
    pub fn query(&self, schema: &str, name: &str) -> Option<&str> {
        self.queries.get(&(schema.to_owned(), name.to_owned())).map(String::as_str)
    }

    /// Those that may show a protected table, sorted.
    pub fn reaching(&self) -> Vec<Place> {
        sorted(self.queries.keys().cloned().collect())
    }

    /// Chooses the views whose queries name a protected table, or another such view; and those whose queries this user may
    /// not read.
    pub fn choose(&mut self, folding: &NameFolding<'_>) {
        let mut names: Vec<String> = folding.planned_tables().map(str::to_lowercase).collect();
        let mut others = Vec::new();
        // By word the views whose queries hold it.
        let mut naming: HashMap<String, Vec<usize>> = HashMap::new();
        for (view, query) in std::mem::take(&mut self.queries) {
            self.seen.insert(folding.place(&view.0, &view.1));
            if query.is_empty() {
                names.push(view.1.to_lowercase());
                self.queries.insert(view, query);
            } else {
                for word in words_of_view(&query) {
                    naming.entry(word).or_default().push(others.len());
                }
                others.push(Some((view, query)));
            }
        }
        while let Some(name) = names.pop() {
            for index in naming.remove(&name).unwrap_or_default() {
                if let Some((view, query)) = others.get_mut(index).and_then(Option::take) {
                    names.push(view.1.to_lowercase());
                    self.queries.insert(view, query);
                }
            }
        }
        self.others = others
            .into_iter()
            .flatten()
            .map(|(view, query)| {
                let sources = sources(&view, &query, folding);
                (view, sources)
            })
            .collect();
    }

    /// The databases of which it must be known what the session may see in them, sorted.
    pub fn databases(&self) -> BTreeSet<String> {
        let sources = self.others.iter().filter_map(|(_, sources)| sources.as_ref()).flatten();
        sources.filter(|source| !self.seen.contains(*source)).map(|(schema, _)| schema.clone()).collect()
    }

    /// The views that stand upon a relation which this session may not see, at whatever depth.
    pub fn unseen(&self, folding: &NameFolding<'_>) -> Vec<&Place> {
        // By relation the views that stand upon it.
        let mut upon: HashMap<&Place, Vec<usize>> = HashMap::new();
        let mut hidden = Vec::new();
        for (index, (_, sources)) in self.others.iter().enumerate() {
            if sources.as_ref().is_none_or(|sources| sources.iter().any(|source| !self.seen.contains(source)))
            {
                hidden.push(index);
            }
            for source in sources.iter().flatten() {
                upon.entry(source).or_default().push(index);
            }
        }
        let mut unseen: BTreeMap<usize, &Place> = BTreeMap::new();
        while let Some(index) = hidden.pop() {
            let Some((view, _)) = self.others.get(index) else { continue };
            if unseen.insert(index, view).is_none() {
                hidden.extend(upon.remove(&folding.place(&view.0, &view.1)).unwrap_or_default());
            }
        }
        unseen.into_values().collect()
    }
}

/// What a view stands upon, but for what nobody makes.
fn sources(view: &Place, query: &str, folding: &NameFolding<'_>) -> Option<Vec<Place>> {
    let dialect = MySqlDialect { folds_tables: folding.folds_tables, ..MySqlDialect::default() };
    let sources = view_sources(query, dialect)?.into_iter();
    let place = |ViewSource { schema, name }: ViewSource| {
        let schema = schema.unwrap_or_else(|| view.0.clone());
        let is_nobodys = NOBODYS.iter().any(|nobodys| schema.eq_ignore_ascii_case(nobodys));
        (!is_nobodys).then(|| folding.place(&schema, &name))
    };
    Some(sources.filter_map(place).collect())
}
