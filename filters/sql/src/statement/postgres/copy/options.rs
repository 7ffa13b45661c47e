//! The options of COPY, in the present syntax and in the two older ones.

use crate::{
    analysis::{CopyCsv, CopyFormat, CopyHeader, CopyText},
    lex::{Kind, Style, Token},
    refusal::Refusal,
    segment::Segment,
};

/// The options that say how the data is written.
///
/// Large: it has the options that COPY has.
#[derive(Default)]
pub(crate) struct Options {
    format: Option<String>,
    delimiter: Option<String>,
    null: Option<String>,
    header: Header,
    quote: Option<String>,
    escape: Option<String>,
    force_null: OptionColumns,
    force_not_null: OptionColumns,
    encoding: Option<String>,
}

/// `HEADER`
#[derive(Default)]
enum Header {
    #[default]
    None,
    Any,
    Match,
}

/// The columns that an option speaks of.
#[derive(Default)]
enum OptionColumns {
    #[default]
    None,
    All,
    Named(Vec<String>),
}

/// The tokens from the options on.
struct OptionReader<'a, 't> {
    segment: &'a Segment<'t>,
    at: usize,
}

impl Options {
    /// Reads the options from a token on; gives the first token behind them.
    pub fn read(segment: &Segment<'_>, at: usize, binary: bool) -> Result<(Self, usize), Refusal> {
        let mut options = Self { format: binary.then(|| "binary".to_owned()), ..Self::default() };
        let mut reader = OptionReader { segment, at };
        let with = reader.takes("with");
        if reader.takes_symbol("(") {
            options.listed(&mut reader)?;
        } else {
            options.bare(&mut reader, with)?;
        }
        Ok((options, reader.at))
    }

    /// `(FORMAT csv, HEADER, …)`
    fn listed(&mut self, reader: &mut OptionReader<'_, '_>) -> Result<(), Refusal> {
        loop {
            let name = reader.word()?;
            match name.as_str() {
                "format" => self.format = Some(reader.value()?.to_ascii_lowercase()),
                "delimiter" => self.delimiter = Some(reader.value()?),
                "null" => self.null = Some(reader.value()?),
                "quote" => self.quote = Some(reader.value()?),
                "escape" => self.escape = Some(reader.value()?),
                "header" => {
                    let value = if reader.ends() { "true".to_owned() } else { reader.value()? };
                    self.header = match value.to_ascii_lowercase().as_str() {
                        "true" | "on" | "1" => Header::Any,
                        "match" => Header::Match,
                        "false" | "off" | "0" => Header::None,
                        _ => return Err(not_understood()),
                    };
                }
                "force_quote" => drop(reader.columns()?),
                "force_null" => self.force_null = reader.columns()?,
                "force_not_null" => self.force_not_null = reader.columns()?,
                "encoding" => self.encoding = Some(reader.value()?),
                "freeze" | "on_error" | "reject_limit" | "log_verbosity" => {
                    if !reader.ends() {
                        reader.value()?;
                    }
                }
                "default" => {
                    return Err(Refusal::unsupported(
                        "COPY with DEFAULT into a table with sealed columns",
                        "give each column a value",
                    ));
                }
                _ => return Err(not_understood()),
            }
            if reader.takes_symbol(",") {
                continue;
            }
            return if reader.takes_symbol(")") { Ok(()) } else { Err(not_understood()) };
        }
    }

    /// `CSV HEADER DELIMITER AS ','`, as before version 9.0, and `DELIMITERS ','` before that.
    fn bare(&mut self, reader: &mut OptionReader<'_, '_>, mut any: bool) -> Result<(), Refusal> {
        if reader.takes("using") && !reader.segment.is_word(reader.at, "delimiters") {
            return Err(not_understood());
        }
        while !reader.is_end() {
            let name = reader.word()?;
            match name.as_str() {
                "with" if !any => any = true,
                "binary" | "csv" => self.format = Some(name),
                "freeze" => {}
                "header" => self.header = Header::Any,
                "delimiter" | "delimiters" => self.delimiter = Some(reader.string()?),
                "null" => self.null = Some(reader.string()?),
                "quote" => self.quote = Some(reader.string()?),
                "escape" => self.escape = Some(reader.string()?),
                "force" => match reader.word()?.as_str() {
                    "quote" => drop(reader.names()?),
                    "null" => self.force_null = reader.names()?,
                    "not" if reader.takes("null") => self.force_not_null = reader.names()?,
                    _ => return Err(not_understood()),
                },
                _ => return Err(not_understood()),
            }
        }
        Ok(())
    }

    /// The format of data with these columns; none are named where they are those of a query.
    pub fn format(self, columns: &[&str]) -> Result<CopyFormat, Refusal> {
        let csv = match self.format.as_deref() {
            None | Some("text") => false,
            Some("csv") => true,
            Some("binary") => return Ok(CopyFormat::Binary),
            Some(_) => return Err(not_understood()),
        };
        let (delimiter, null) = if csv { (",", "") } else { ("\t", "\\N") };
        let text = CopyText {
            delimiter: one_byte(self.delimiter.as_deref().unwrap_or(delimiter))?,
            null: self.null.as_deref().unwrap_or(null).as_bytes().to_vec(),
            header: match self.header {
                Header::None => CopyHeader::None,
                Header::Any => CopyHeader::Any,
                Header::Match => CopyHeader::Match(columns.iter().map(|name| (*name).to_owned()).collect()),
            },
            csv: if csv { Some(self.csv(columns)?) } else { None },
            encoding: self.encoding,
        };
        Ok(CopyFormat::Text(text))
    }

    fn csv(&self, columns: &[&str]) -> Result<CopyCsv, Refusal> {
        let quote = one_byte(self.quote.as_deref().unwrap_or("\""))?;
        let escape = self.escape.as_deref().map_or(Ok(quote), one_byte)?;
        let force = |listed: &OptionColumns| -> Vec<bool> {
            let is_listed = |column: &&str| match listed {
                OptionColumns::None => false,
                OptionColumns::All => true,
                OptionColumns::Named(names) => names.iter().any(|name| name == column),
            };
            columns.iter().map(is_listed).collect()
        };
        Ok(CopyCsv {
            quote,
            escape,
            force_null: force(&self.force_null),
            force_not_null: force(&self.force_not_null),
        })
    }
}

fn one_byte(text: &str) -> Result<u8, Refusal> {
    match text.as_bytes() {
        [byte] if !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        _ => Err(not_understood()),
    }
}

impl OptionReader<'_, '_> {
    fn is_end(&self) -> bool {
        self.at >= self.segment.tokens.len()
    }

    /// Whether an option without a value ends here.
    fn ends(&self) -> bool {
        self.segment.is_symbol(self.at, ",") || self.segment.is_symbol(self.at, ")")
    }

    fn token(&mut self) -> Result<&Token, Refusal> {
        let token = self.segment.tokens.get(self.at).ok_or_else(not_understood)?;
        self.at = self.at.saturating_add(1);
        Ok(token)
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.segment.is_word(self.at, word);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    fn takes_symbol(&mut self, symbol: &str) -> bool {
        let found = self.segment.is_symbol(self.at, symbol);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    fn word(&mut self) -> Result<String, Refusal> {
        self.token()?.name().map(str::to_owned).ok_or_else(not_understood)
    }

    /// A string, a word or a number.
    fn value(&mut self) -> Result<String, Refusal> {
        let text = self.segment.text;
        let token = self.token()?;
        match &token.kind {
            Kind::Text { value, style: Style::Plain | Style::Escape | Style::Dollar } => {
                Ok(value.as_str().to_owned())
            }
            Kind::Word { value, .. } => Ok(value.clone()),
            Kind::Number => Ok(token.source(text).to_owned()),
            _ => Err(not_understood()),
        }
    }

    /// `[AS] 'string'`
    fn string(&mut self) -> Result<String, Refusal> {
        self.takes("as");
        match &self.token()?.kind {
            Kind::Text { value, style: Style::Plain | Style::Escape } => Ok(value.as_str().to_owned()),
            _ => Err(not_understood()),
        }
    }

    /// `*` or `(a, b)`
    fn columns(&mut self) -> Result<OptionColumns, Refusal> {
        if self.takes_symbol("*") {
            return Ok(OptionColumns::All);
        }
        if !self.takes_symbol("(") {
            return Err(not_understood());
        }
        let columns = self.names()?;
        if self.takes_symbol(")") { Ok(columns) } else { Err(not_understood()) }
    }

    /// `*` or `a, b`
    fn names(&mut self) -> Result<OptionColumns, Refusal> {
        if self.takes_symbol("*") {
            return Ok(OptionColumns::All);
        }
        let mut names = vec![self.word()?];
        while self.takes_symbol(",") {
            names.push(self.word()?);
        }
        Ok(OptionColumns::Named(names))
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("the options of the COPY aren't understood")
}
