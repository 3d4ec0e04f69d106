/* The kind table: every feature of the tree is one row here and one file. */
#include "kinds.h"

#include "kind_list.h"
#include "kind_stream.h"
#include "kind_view.h"

const struct kind_methods kinds[KIND_COUNT] = {
	[KIND_ROOT] = {
		.name = "root", .level = LEVEL_ROOT,
		.directory = true, .hold = HOLD_LONG,
		.listing_kept = true,
		.parse = root_parse, .find = data_find, .list = root_list,
		.set = data_set,
	},
	[KIND_TABLE] = {
		.name = "table", .level = LEVEL_TABLE,
		.directory = true, .hold = HOLD_LONG,
		.listing_kept = true,
		.parse = table_parse, .find = data_find, .list = rows_list,
		.make = table_make, .drop = data_drop, .set = data_set,
	},
	[KIND_ROW_PART] = {
		.name = "row part", .level = LEVEL_ROW_PART,
		.directory = true, .hold = HOLD_LONG,
		.listing_kept = true,
		.parse = table_parse, .find = part_find, .list = rows_list,
		.make = data_make, .drop = part_drop, .set = part_set,
	},
	[KIND_ROW] = {
		.name = "row", .level = LEVEL_ROW,
		.directory = true, .hold = HOLD_LONG,
		.listing_kept = true,
		.parse = row_parse, .find = data_find, .list = row_list,
		.make = data_make, .drop = data_drop, .set = data_set,
	},
	[KIND_FAMILY] = {
		.name = "family", .level = LEVEL_FAMILY,
		.directory = true, .hold = HOLD_LONG,
		.listing_kept = true,
		.parse = family_parse, .find = data_find,
		.list = columns_list,
		.make = family_make, .drop = data_drop, .set = data_set,
	},
	[KIND_COLUMN_PART] = {
		.name = "column part", .level = LEVEL_COLUMN_PART,
		.directory = true, .hold = HOLD_LONG,
		.listing_kept = true,
		.parse = family_parse, .find = part_find,
		.list = columns_list,
		.make = data_make, .drop = part_drop, .set = part_set,
	},
	[KIND_CELL] = {
		.name = "cell", .level = LEVEL_COLUMN, .hold = HOLD_LONG,
		.find = cell_find, .make = cell_make, .drop = cell_drop,
		.set = data_set, .open = cell_open, .limit = cell_limit,
		.drafted = true, .appends = true,
	},
	[KIND_VERSION] = {
		.name = "version", .level = LEVEL_COLUMN, .hold = 0,
		.find = cell_find, .make = cell_make, .drop = version_drop,
		.set = data_set, .open = cell_open, .limit = cell_limit,
		.drafted = true,
	},
	[KIND_NTH] = {
		.name = "nth version", .level = LEVEL_COLUMN,
		.read_only = true, .hold = 0,
		.find = cell_find, .open = cell_open,
	},
	[KIND_COUNTER] = {
		.name = "counter", .level = LEVEL_COLUMN, .hold = 0,
		.find = counter_find, .make = counter_make,
		.open = counter_open, .check = counter_check,
		.store = counter_store, .collects = true,
	},
	[KIND_VERSIONS] = {
		.name = "versions", .level = LEVEL_COLUMN,
		.directory = true, .hold = 0,
		.parse = versions_parse, .find = versions_find,
		.list = versions_list,
	},
	[KIND_DOT_FILE] = {
		.name = "dot file", .level = LEVEL_DOT, .hold = HOLD_LONG,
		.find = dot_find, .make = dot_make, .drop = dot_drop,
		.set = data_set, .open = cell_open, .limit = cell_limit,
		.drafted = true,
	},
	[KIND_DOT_DIR] = {
		.name = "dot directory", .level = LEVEL_DOT_DIR,
		.directory = true, .hold = HOLD_LONG,
		.parse = dot_dir_parse, .find = dot_find, .list = dots_list,
		.make = data_make, .drop = data_drop, .set = data_set,
	},
	[KIND_STREAM] = {
		.name = "stream", .hold = 0,
		.find = stream_find, .open = stream_start,
	},
	[KIND_CELLS] = {
		.name = "cells stream", .hold = 0,
		.find = stream_find, .open = stream_start,
		.collects = true, .loads = true,
	},
	[KIND_VIEW_NAME] = {
		.name = "view name", .level = LEVEL_TABLE,
		.directory = true, .read_only = true, .hold = 1,
		.parse = view_argument, .find = view_find,
		.list = view_nothing,
	},
	[KIND_VIEW_TIME] = {
		.name = "time of a view", .level = LEVEL_TABLE,
		.link = true, .read_only = true, .hold = 0,
		.find = view_time_find, .open = view_time_open,
	},
	[KIND_VIEW] = {
		.name = "view", .level = LEVEL_TABLE,
		.directory = true, .read_only = true, .hold = 1,
		.parse = view_parse, .find = view_find, .list = rows_list,
	},
	[KIND_VIEW_ROW_PART] = {
		.name = "row part in a view", .level = LEVEL_ROW_PART,
		.directory = true, .read_only = true, .hold = 1,
		.parse = view_parse, .find = view_part_find, .list = rows_list,
	},
	[KIND_VIEW_ROW] = {
		.name = "row in a view", .level = LEVEL_ROW,
		.directory = true, .read_only = true, .hold = 1,
		.parse = view_row_parse, .find = view_dir_find,
		.list = row_list,
	},
	[KIND_VIEW_FAMILY] = {
		.name = "family in a view", .level = LEVEL_FAMILY,
		.directory = true, .read_only = true, .hold = 1,
		.parse = view_family_parse, .find = view_dir_find,
		.list = columns_list,
	},
	[KIND_VIEW_COLUMN_PART] = {
		.name = "column part in a view", .level = LEVEL_COLUMN_PART,
		.directory = true, .read_only = true, .hold = 1,
		.parse = view_family_parse, .find = view_part_find,
		.list = columns_list,
	},
	[KIND_VIEW_CELL] = {
		.name = "cell in a view", .level = LEVEL_COLUMN,
		.read_only = true, .hold = 1,
		.find = view_cell_find, .open = view_cell_open,
	},
	[KIND_SCHEMA_DIR] = {
		.name = "schema directory", .level = LEVEL_SCHEMA,
		.directory = true, .hold = HOLD_LONG,
		.parse = schema_dir_parse, .find = data_find,
		.list = dots_list, .set = data_set,
	},
	[KIND_SCHEMA_FILE] = {
		.name = "schema", .level = LEVEL_SCHEMA_FILE,
		.hold = 0,
		.find = schema_find, .make = schema_make,
		.drop = schema_drop, .set = data_set, .open = schema_open,
		.limit = schema_limit, .check = schema_check_image,
		.store = schema_store, .appends = true,
	},
	[KIND_CONTROL_DIR] = {
		.name = "control directory", .level = LEVEL_ROOT,
		.directory = true, .hold = HOLD_LONG,
		.parse = control_dir_parse, .find = control_dir_find,
		.list = control_dir_list,
	},
	[KIND_CONTROL_FILE] = {
		.name = "control file", .level = LEVEL_CONTROL,
		.hold = 0, .immediate = true, .collects = true,
		.find = control_find, .open = control_open,
		.set = control_set,
		.limit = control_limit,
		.store = control_store,
	},
};
