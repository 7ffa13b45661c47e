//! What the server is asked, and its answer row by row. MariaDB looks up the columns of a relation that is asked for by its own
//! names, and opens every table of all databases for any other question about columns. So the first question is for the
//! tables by their names and for the queries of all views; another is for the columns of those views that matter.

use std::collections::BTreeSet;
use std::fmt::Write;

use fieldveil_mysql_wire::response::TextRow;

use crate::compiled_plan::CompiledPlan;
use fieldveil_sql::sorted::sorted_once;

/// Columns of the answer.
const COLUMNS: usize = 12;
/// Who made the server's own views.
const SYSTEM: &str = "'mysql.sys@localhost', 'mariadb.sys@localhost'";
/// Rows of an answer that are read at most.
pub const MAX_ROWS: usize = 200_000;
/// One more, to know; and a client that set `sql_select_limit` does not keep rows from here.
const LIMIT: usize = MAX_ROWS + 1;

/// The columns of the answer, as bytes of UTF-8: the character set of results may lack characters that are in names, and that of
/// the connection decides in which numbers become text. A column that is invisible has a number below 0; MariaDB writes the
/// default NULL as a word. An empty string stands in hexadecimal digits, for `''` may be NULL to the session.
const SELECT: &str = "SELECT CAST(c.TABLE_SCHEMA AS BINARY), CAST(c.TABLE_NAME AS BINARY), \
CAST(CONVERT(IF(c.EXTRA LIKE '%INVISIBLE%', -1, 1) * CAST(c.ORDINAL_POSITION AS SIGNED) USING utf8mb4) AS BINARY), \
CAST(c.COLUMN_NAME AS BINARY), CAST(LOWER(c.DATA_TYPE) AS BINARY), \
CAST(CONVERT(c.CHARACTER_MAXIMUM_LENGTH USING utf8mb4) AS BINARY), CAST(c.COLLATION_NAME AS BINARY), \
CAST(CONVERT(COALESCE(c.COLUMN_DEFAULT <> 'NULL', FALSE) + COALESCE(c.EXTRA LIKE '%auto_increment%', FALSE) > 0 USING utf8mb4) AS BINARY), \
CAST(CONVERT(COALESCE(c.GENERATION_EXPRESSION <> _utf8 x'', FALSE) USING utf8mb4) AS BINARY)";

/// A view as a row: one without a column.
const SELECT_VIEW: &str = "SELECT CAST(v.TABLE_SCHEMA AS BINARY), CAST(v.TABLE_NAME AS BINARY), _binary'0', _binary x'', \
_binary x'', NULL, NULL, _binary'0', _binary'0', _binary'0', _binary'1', \
CAST(v.VIEW_DEFINITION AS BINARY)";

/// The first question: for the tables that the policy names, and for all views.
pub fn question(plan: &CompiledPlan) -> String {
    let columns = plan.fields.iter().map(|field| field.spec.column());
    let tables = columns.map(|column| (column.schema, column.table));
    let mut text = String::new();
    for (schema, table) in sorted_once(tables.collect()) {
        let (schema, table) = (literal(schema), literal(table));
        text.push_str(SELECT);
        let _ = write!(
            text,
            ", CAST(CONVERT(EXISTS (SELECT 1 FROM information_schema.STATISTICS s WHERE s.TABLE_SCHEMA = {schema} AND s.TABLE_NAME = {table} \
AND s.SEQ_IN_INDEX = 1 AND s.COLUMN_NAME = c.COLUMN_NAME) USING utf8mb4) AS BINARY), _binary'0', _binary x'' \
FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = {schema} AND c.TABLE_NAME = {table} UNION ALL "
        );
    }
    let _ = write!(
        text,
        "{SELECT_VIEW} FROM information_schema.VIEWS v WHERE COALESCE(v.DEFINER, _utf8 x'') NOT IN ({SYSTEM}) LIMIT {LIMIT}"
    );
    text
}

/// A further question: for the columns of these views.
pub fn question_for_views(views: &[(String, String)]) -> String {
    let mut text = String::new();
    for (schema, table) in views {
        let (schema, table) = (literal(schema), literal(table));
        if !text.is_empty() {
            text.push_str(" UNION ALL ");
        }
        text.push_str(SELECT);
        let _ = write!(
            text,
            ", _binary'0', _binary'1', _binary x'' FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = {schema} AND c.TABLE_NAME = {table}"
        );
    }
    let _ = write!(text, " LIMIT {LIMIT}");
    text
}

/// A further question: for the names of all that the session may see in these databases. It asks for no more of them, so that
/// MariaDB opens no table.
pub fn question_for_names(databases: &BTreeSet<String>) -> String {
    let of = |schema: &String| {
        format!(
            "SELECT CAST(t.TABLE_SCHEMA AS BINARY), CAST(t.TABLE_NAME AS BINARY), _binary'0', _binary x'', \
_binary x'', NULL, NULL, _binary'0', _binary'0', _binary'0', _binary'0', _binary x'' \
FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = {}",
            literal(schema)
        )
    };
    let of_each: Vec<String> = databases.iter().map(of).collect();
    format!("{} LIMIT {LIMIT}", of_each.join(" UNION ALL "))
}

/// A name as a literal that reads the same in every mode.
fn literal(name: &str) -> String {
    let mut literal = String::from("_utf8 x'");
    for byte in name.bytes() {
        let _ = write!(literal, "{byte:02x}");
    }
    literal.push('\'');
    literal
}

/// One row of the answer: a column of a table or of a view, or a view.
///
/// Large: it has the columns of the filter's query.
pub struct CatalogRow {
    pub schema: String,
    pub table: String,
    /// 0 of a view itself.
    pub number: i16,
    pub column: String,
    pub data_type: String,
    /// Characters, or bytes if it holds bytes.
    pub most: Option<usize>,
    pub collation: Option<String>,
    pub has_default: bool,
    pub generated: bool,
    pub has_index: bool,
    pub is_view: bool,
    /// The query of a view itself, empty where this user may not see it.
    pub query: String,
}

impl CatalogRow {
    /// Reads a row; None if it is not as asked for.
    pub fn read(body: &[u8]) -> Option<Self> {
        let row = TextRow::parse(body, COLUMNS).ok()?;
        let mut values = row.values();
        let mut optional = || match values.next()? {
            None => Some(None),
            Some(bytes) => Some(Some(std::str::from_utf8(bytes).ok()?.to_owned())),
        };
        let schema = optional()??;
        let table = optional()??;
        let number = optional()??.parse().ok()?;
        let column = optional()??;
        let data_type = optional()??;
        let most = optional()?.and_then(|most| most.parse().ok());
        let collation = optional()?;
        let mut is_set = || Some(optional()?.is_some_and(|value| value != "0"));
        let (has_default, generated, has_index, is_view) = (is_set()?, is_set()?, is_set()?, is_set()?);
        let query = optional()?.unwrap_or_default();
        Some(Self {
            schema,
            table,
            number,
            column,
            data_type,
            most,
            collation,
            has_default,
            generated,
            has_index,
            is_view,
            query,
        })
    }
}
