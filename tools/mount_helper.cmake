# mount(8) looks for mount.cellfs in /sbin alone. An installation into /usr or
# /usr/local puts the link there, any other beside its own programs.
if(CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
	set(folder "$ENV{DESTDIR}/sbin")
else()
	set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/sbin")
endif()
file(MAKE_DIRECTORY "${folder}")
message(STATUS "Installing: ${folder}/mount.cellfs")
file(CREATE_LINK "${CMAKE_INSTALL_PREFIX}/${helper_link}"
	"${folder}/mount.cellfs" SYMBOLIC)
