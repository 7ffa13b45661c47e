//! Where the parts of the binary format end.

use super::CopyDataError;

/// `PGCOPY\n\377\r\n\0`
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// The signature, the flags, the length of the extension.
const FIXED_HEADER: usize = 19;
/// Flags that a reader must know; none is.
const CRITICAL_FLAGS: u32 = 0xffff_0000;
/// Bytes of the extension: there is none in any version.
const MAX_EXTENSION: u32 = 65_536;

/// What comes next in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// So many bytes of the header, with its extension.
    Header(usize),
    /// A row's number of fields: two bytes. None for the trailer, behind which nothing comes.
    Row(Option<usize>),
    /// A field's length: four bytes. None for NULL.
    Length(Option<usize>),
}

/// What the bytes at the start of the data are; None if they are too few to tell.
pub fn header(bytes: &[u8]) -> Result<Option<Next>, CopyDataError> {
    let known = bytes.len().min(SIGNATURE.len());
    if bytes.get(..known) != SIGNATURE.get(..known) {
        return Err(CopyDataError::Header);
    }
    let Some(fixed) = bytes.get(SIGNATURE.len()..FIXED_HEADER) else { return Ok(None) };
    let (flags, extension) = fixed.split_at_checked(4).ok_or(CopyDataError::Header)?;
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_be_bytes).map_err(|_| CopyDataError::Header);
    if number(flags)? & CRITICAL_FLAGS != 0 {
        return Err(CopyDataError::Header);
    }
    let extension = number(extension)?;
    if extension > MAX_EXTENSION {
        return Err(CopyDataError::Header);
    }
    let extension = usize::try_from(extension).map_err(|_| CopyDataError::Header)?;
    Ok(Some(Next::Header(FIXED_HEADER.saturating_add(extension))))
}

/// A row's number of fields.
pub fn row(bytes: &[u8]) -> Result<Option<Next>, CopyDataError> {
    let Some((count, _)) = bytes.split_first_chunk::<2>() else { return Ok(None) };
    match i16::from_be_bytes(*count) {
        -1 => Ok(Some(Next::Row(None))),
        count => usize::try_from(count)
            .map(|count| Some(Next::Row(Some(count))))
            .map_err(|_| CopyDataError::Length),
    }
}

/// A field's length.
pub fn length(bytes: &[u8]) -> Result<Option<Next>, CopyDataError> {
    let Some((length, _)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    match i32::from_be_bytes(*length) {
        -1 => Ok(Some(Next::Length(None))),
        length => usize::try_from(length)
            .map(|length| Some(Next::Length(Some(length))))
            .map_err(|_| CopyDataError::Length),
    }
}

/// Appends a field, None for NULL.
pub fn encode(value: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), CopyDataError> {
    let Some(value) = value else {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
        return Ok(());
    };
    let length = i32::try_from(value.len()).map_err(|_| CopyDataError::Length)?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value);
    Ok(())
}
