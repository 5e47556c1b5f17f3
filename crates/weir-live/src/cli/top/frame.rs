//! What a page shows: a title and blocks of figures, of which those columns are shown that fit the width.

use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{self, Cell, Table};

use weir_gauge::text::table;

/// Between two columns.
const GAP: usize = 2;
const HEAD: Style = Style::new().add_modifier(Modifier::REVERSED);

/// A page.
pub(super) struct Frame {
    pub(super) title: String,
    /// A block without rows is not shown.
    pub(super) blocks: Vec<Block>,
}

/// Rows of figures under a head.
pub(super) struct Block {
    /// The columns with their ranks: what is narrow loses the last ranks first.
    pub(super) head: Vec<(&'static str, u8)>,
    /// How many columns begin at the left.
    pub(super) left: usize,
    pub(super) rows: Vec<Row>,
}

/// A row of a block.
pub(super) struct Row {
    /// Whether the rows below it are parts of it.
    pub(super) is_head: bool,
    pub(super) cells: Vec<String>,
}

impl Row {
    /// A row like the others.
    pub(super) fn plain(cells: Vec<String>) -> Self {
        Self { is_head: false, cells }
    }
}

impl Frame {
    fn shown(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| !block.rows.is_empty())
    }

    /// The page as text of at most this width.
    pub(super) fn text(&self, width: usize) -> String {
        let blocks = self.shown().map(|block| format!("\n{}", block.text(width)));
        format!("{}\n{}", self.title, blocks.collect::<String>())
    }

    /// Draws the page.
    pub(super) fn draw(&self, frame: &mut ratatui::Frame<'_>) {
        let heights = self.shown().map(|block| Constraint::Max(block.rows.len() as u16 + 2));
        let constraints = [Constraint::Length(1)].into_iter().chain(heights).chain([Constraint::Fill(1)]);
        let areas = Layout::vertical(constraints).split(frame.area());
        let [title, blocks @ .., foot] = areas.as_ref() else { return };
        frame.render_widget(Line::from(self.title.as_str()), *title);
        for (block, area) in self.shown().zip(blocks) {
            frame.render_widget(block.figures(usize::from(area.width)), *area);
        }
        frame.render_widget(Line::styled("q quits", Style::new().add_modifier(Modifier::DIM)), *foot);
    }
}

impl Block {
    /// The characters of the widest cell of a column.
    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row.cells[column].chars().count());
        cells.chain([self.head[column].0.len()]).max().unwrap_or(0)
    }

    /// The columns that fit the width, by their rank.
    fn fitting(&self, width: usize) -> Vec<usize> {
        let mut by_rank: Vec<usize> = (0..self.head.len()).collect();
        by_rank.sort_by_key(|column| self.head[*column].1);
        let mut left = width + GAP;
        let mut fitting: Vec<usize> = by_rank
            .into_iter()
            .enumerate()
            .map_while(|(place, column)| {
                let needs = self.widest(column) + GAP;
                let fits = left >= needs;
                left = left.saturating_sub(needs);
                // A name that is cut is better than none.
                (fits || place == 0).then_some(column)
            })
            .collect();
        fitting.sort_unstable();
        fitting
    }

    fn text(&self, width: usize) -> String {
        let columns = self.fitting(width);
        let head: Vec<&str> = columns.iter().map(|column| self.head[*column].0).collect();
        let left = columns.iter().filter(|column| **column < self.left).count();
        let cells = |row: &Row| columns.iter().map(|column| row.cells[*column].clone()).collect();
        table(&head, left, &self.rows.iter().map(cells).collect::<Vec<_>>())
    }

    fn figures(&self, width: usize) -> Table<'_> {
        let columns = self.fitting(width);
        let cell = |column: usize, text: &str| {
            let line = Line::from(text.to_owned());
            Cell::from(if column < self.left { line } else { line.right_aligned() })
        };
        let rows = self.rows.iter().map(|row| {
            let cells = columns.iter().map(|column| cell(*column, &row.cells[*column]));
            let style = if row.is_head { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
            widgets::Row::new(cells).style(style)
        });
        let head = columns.iter().map(|column| cell(*column, self.head[*column].0));
        let head = widgets::Row::new(head).style(HEAD).top_margin(1);
        let widths = columns.iter().map(|column| Constraint::Length(self.widest(*column) as u16));
        Table::new(rows, widths).header(head).column_spacing(GAP as u16)
    }
}
